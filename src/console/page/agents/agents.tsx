import { attempt, Confirmed } from "../action.tsx";
import { Actor } from "../actor.tsx";
import { callApi } from "../api.ts";
import { Split } from "../layout.tsx";
import { useInterval } from "../live.ts";
import { useLoad } from "../load.ts";
import { writeRoute } from "../route.ts";
import type { Rows } from "../rows.tsx";
import { ShortList } from "../short-list.tsx";
import { Time } from "../time.tsx";
import { Empty, notify } from "../ui.tsx";
import type { ViewParts } from "../views.ts";
import type { Page, SessionInfo } from "../wire.ts";

import { NewToken } from "./new-token.tsx";

const pollIntervalMs = 5_000;
const calls = new URLSearchParams({ action: "agent.called" });

/** The Agents view: the tokens of agents, and what leads to what they did. */
export function Agents({ route: { id, query }, isAdmin }: ViewParts) {
  const list = useLoad<Page<SessionInfo>>("v1/sessions?kind=agent&limit=100", { keep: true });
  useInterval(list.reload, pollIntervalMs);
  const rows = rowsWith((token) =>
    attempt("Revoke", async () => {
      await callApi(`v1/sessions/${encodeURIComponent(token)}`, { method: "DELETE" });
      notify("Token revoked");
      list.reload();
    }),
  );
  return (
    <Split
      title="Agents"
      list={<ShortList of={rows} list={list} open={null} query={query} empty={<NoTokens />} />}
      detail={id === "new" ? <NewToken close={writeRoute("agents")} made={list.reload} /> : null}
    >
      <div class="filters">{isAdmin && <a href={writeRoute("audit", null, calls)}>Calls</a>}</div>
      <a class="button primary" href={writeRoute("agents", "new")}>
        Create token
      </a>
    </Split>
  );
}

const rowsWith = (revoke: (id: string) => Promise<void>): Rows<SessionInfo> => ({
  what: ["token", "tokens"],
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
      cell: ({ id, userAgent }) => (
        <Confirmed
          label="Revoke"
          title={`Revoke the token ${userAgent}?`}
          text="The agent loses access at once."
          confirm={() => void revoke(id)}
        />
      ),
    },
  ],
  narrow: `"title time act" "kind by act" / minmax(0, 1fr) auto auto`,
  address: () => null,
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
