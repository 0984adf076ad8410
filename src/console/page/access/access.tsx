import { attempt, Confirmed } from "../kit/action.tsx";
import { Actor } from "../kit/actor.tsx";
import { callApi } from "../kit/api.ts";
import { Controls, SelectFilter } from "../kit/list/filters.tsx";
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

const keyQuery = new URLSearchParams({ kind: "key" });
const isOfKeys = (query: URLSearchParams) => query.get("kind") === "key";
const labels: Readonly<Record<string, string>> = { agent: "Tokens of agents", key: "API keys" };

/** The Access view: tokens of agents or API keys, when they were used, and what agents did. */
export const Access = listView<SessionInfo>({
  view: "access",
  what: ["credential", "credentials"],
  path: (query) => `v1/sessions?kind=${isOfKeys(query) ? "key" : "agent"}`,
  pollIntervalMs: 5_000,
  columns: [
    { head: "Name", at: "title", width: "minmax(0, 3fr)", cell: ({ name }) => name },
    {
      head: "Permissions",
      at: "kind",
      width: "minmax(0, 2fr)",
      cell: ({ kind, roles, allowed }) =>
        (kind === "key" ? roles : ["reads", ...allowed]).join(", "),
    },
    {
      head: "Created by",
      at: "by",
      width: "minmax(0, 2fr)",
      cell: ({ actor }) => <Actor of={actor} />,
    },
    {
      head: "Last used",
      at: "calls",
      width: "minmax(0, 2fr)",
      cell: (item) =>
        isAdmin() && item.kind === "agent" ? <Calls of={item.id} /> : <LastUse of={item} />,
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
      cell: ({ id, kind, name }, changed) => (
        <Confirmed
          label="Revoke"
          title={`Revoke the ${kind === "key" ? "API key" : "token"} ${name}?`}
          text={`The ${kind === "key" ? "program" : "agent"} loses access at once.`}
          confirm={() => void revoke(id, kind).then(changed)}
        />
      ),
    },
  ],
  narrow: `"title time act" "kind by act" "calls calls calls" / minmax(0, 1fr) auto auto`,
  address: () => null,
  filters: ({ route }) => (
    <Controls>
      <SelectFilter
        route={route}
        name="kind"
        label="Kind"
        preset="agent"
        options={Object.keys(labels)}
        labelOf={(kind) => labels[kind] ?? kind}
      />
    </Controls>
  ),
  action: (query) => (
    <div class="actions">
      {isAdmin() && !isOfKeys(query) && (
        <a class="button" href={writeRoute("audit", null, callsQuery())}>
          All calls
        </a>
      )}
      <a class="button primary" href={writeRoute("access", "new", query)}>
        {isOfKeys(query) ? "Create API key" : "Create token"}
      </a>
    </div>
  ),
  empty: <NoTokens isKey={false} />,
  noMatch: (query) => <NoTokens isKey={isOfKeys(query)} />,
  detail: ({ id, close, changed, route }) =>
    id === "new" ? <NewToken isKey={isOfKeys(route.query)} close={close} made={changed} /> : null,
});

function LastUse({ of: { lastUsedAt } }: Of<SessionInfo>) {
  if (lastUsedAt === null) return <span class="quiet">Not used yet</span>;
  return (
    <>
      <span class="unit">Last used </span>
      <Time at={lastUsedAt} />
    </>
  );
}

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

const revoke = (id: string, kind: SessionInfo["kind"]) =>
  attempt("Revoke", async () => {
    const list = kind === "key" ? "keys" : "sessions";
    await callApi(`v1/${list}/${encodeURIComponent(id)}`, { method: "DELETE" });
    notify(kind === "key" ? "API key revoked" : "Token revoked");
  });

function NoTokens({ isKey }: { readonly isKey: boolean }) {
  return (
    <Empty title={isKey ? "No API keys yet" : "No tokens yet"}>
      <p>
        {isKey
          ? "Programs send an API key instead of an access token. A key has a role and an expiry, and can be revoked."
          : "Agents ask Skyhook by the Model Context Protocol why a webhook did not arrive. Those that cannot sign in use a token."}
      </p>
      <p>
        <a href={writeRoute("access", "new", isKey ? keyQuery : undefined)}>
          Create the first {isKey ? "API key" : "token"}
        </a>
      </p>
    </Empty>
  );
}
