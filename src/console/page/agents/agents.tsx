import { attempt, Confirmed } from "../kit/action.tsx";
import { Actor } from "../kit/actor.tsx";
import { callApi } from "../kit/api.ts";
import { listView } from "../kit/list/list-view.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, type Of } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Empty, notify } from "../kit/ui.tsx";
import type { AuditItem, Page, SessionInfo } from "../kit/wire.ts";

import { NewToken } from "./new-token.tsx";

const callsQuery = (subject?: string) =>
  new URLSearchParams({ action: "agent.called", ...(subject !== undefined && { subject }) });

/** The Agents view: the tokens of agents, and what leads to what they did. */
export const Agents = listView<SessionInfo>({
  view: "agents",
  what: ["token", "tokens"],
  path: () => "v1/sessions?kind=agent",
  pollIntervalMs: 5_000,
  columns: [
    { head: "Name", at: "title", width: "minmax(0, 3fr)", cell: ({ name }) => name },
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
      head: "Calls",
      at: "calls",
      width: "minmax(0, 2fr)",
      cell: ({ id }) => <Calls of={id} />,
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
      cell: ({ id, name }, changed) => (
        <Confirmed
          label="Revoke"
          title={`Revoke the token ${name}?`}
          text="The agent loses access at once."
          confirm={() => void revoke(id).then(changed)}
        />
      ),
    },
  ],
  narrow: `"title time act" "kind by act" "calls calls calls" / minmax(0, 1fr) auto auto`,
  address: () => null,
  action: () => (
    <div class="actions">
      {isAdmin() && (
        <a class="button" href={writeRoute("audit", null, callsQuery())}>
          All calls
        </a>
      )}
      <a class="button primary" href={writeRoute("agents", "new")}>
        Create token
      </a>
    </div>
  ),
  empty: <NoTokens />,
  detail: ({ id, close, changed }) =>
    id === "new" ? <NewToken close={close} made={changed} /> : null,
});

const callsPollMs = 15_000;

/** For admins: how often a token was used, and when last. */
function Calls({ of: id }: Of<string>) {
  const query = callsQuery(id);
  const path = `v1/audit?${query}&limit=1&include=total`;
  const { value, reload } = useLoad<Page<AuditItem>>(isAdmin() ? path : null);
  useInterval(reload, callsPollMs);
  const last = value?.data[0];
  if (value === null) return null;
  if (last === undefined) return <span class="quiet">Not used yet</span>;
  return (
    <>
      <a href={writeRoute("audit", null, query)}>{counted(value.pagination.total ?? 0, "call")}</a>
      , last <Time at={last.createdAt} />
    </>
  );
}

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
