import { attempt, Confirmed } from "../kit/action.tsx";
import { Actor } from "../kit/actor.tsx";
import { callApi } from "../kit/api.ts";
import { listView } from "../kit/list/list-view.tsx";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { Time } from "../kit/time.tsx";
import { Empty, notify } from "../kit/ui.tsx";
import type { SessionInfo } from "../kit/wire.ts";

import { NewToken } from "./new-token.tsx";

const calls = new URLSearchParams({ action: "agent.called" });

/** The Agents view: the tokens of agents, and what leads to what they did. */
export const Agents = listView<SessionInfo>({
  view: "agents",
  what: ["token", "tokens"],
  path: () => "v1/sessions?kind=agent",
  pollIntervalMs: 5_000,
  columns: [
    { head: "Name", at: "title", width: "minmax(0, 3fr)", cell: ({ userAgent }) => userAgent },
    {
      head: "Allowed",
      at: "kind",
      width: "minmax(0, 2fr)",
      cell: ({ allowed }) => ["reads", ...allowed].join(", "),
    },
    {
      head: "Created by",
      at: "by",
      width: "minmax(0, 2fr)",
      cell: ({ actor }) => <Actor of={actor} />,
    },
    {
      head: "Created",
      at: "made",
      width: "84px",
      isWideOnly: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      head: "Expires",
      at: "time",
      width: "76px",
      cell: ({ expiresAt }) => (
        <>
          <span class="unit">Expires </span>
          <Time at={expiresAt} />
        </>
      ),
    },
    {
      head: "",
      at: "act",
      width: "84px",
      cell: ({ id, userAgent }, changed) => (
        <Confirmed
          label="Revoke"
          title={`Revoke the token ${userAgent}?`}
          text="The agent loses access at once."
          confirm={() => void revoke(id).then(changed)}
        />
      ),
    },
  ],
  narrow: `"title time act" "kind by act" / minmax(0, 1fr) auto auto`,
  address: () => null,
  action: () => (
    <>
      <div class="filters">{isAdmin() && <a href={writeRoute("audit", null, calls)}>Calls</a>}</div>
      <a class="button primary" href={writeRoute("agents", "new")}>
        Create token
      </a>
    </>
  ),
  empty: <NoTokens />,
  detail: ({ id, close, changed }) =>
    id === "new" ? <NewToken close={close} made={changed} /> : null,
});

const revoke = (id: string) =>
  attempt("Revoke", async () => {
    await callApi(`v1/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
    notify("Token revoked");
  });

function NoTokens() {
  return (
    <Empty title="No tokens yet">
      <p>
        Agents ask Skyhook by the Model Context Protocol why a webhook did not arrive. Those that
        cannot sign in use a token.
      </p>
      <p>
        <a href={writeRoute("agents", "new")}>Create the first token</a>
      </p>
    </Empty>
  );
}
