import { Actor } from "../actor.tsx";
import { Detail, Split } from "../layout.tsx";
import { useInterval } from "../live.ts";
import { useLoad } from "../load.ts";
import { writeRoute } from "../route.ts";
import type { Rows } from "../rows.tsx";
import { ShortList } from "../short-list.tsx";
import { Time } from "../time.tsx";
import { Empty } from "../ui.tsx";
import type { ViewParts } from "../views.ts";
import type { Page, SessionInfo } from "../wire.ts";

import { AgentPane } from "./agent-pane.tsx";
import { NewToken } from "./new-token.tsx";

const pollIntervalMs = 5_000;

/** The Agents view: the tokens of agents, and what leads to what they did. */
export function Agents({ route: { id, query }, isAdmin }: ViewParts) {
  const list = useLoad<Page<SessionInfo>>("v1/sessions?kind=agent&limit=100", { keep: true });
  useInterval(list.reload, pollIntervalMs);
  const close = writeRoute("agents");
  const agent = list.value?.data.find((each) => each.id === id);
  const detail =
    id === "new" ? (
      <NewToken close={close} made={list.reload} />
    ) : agent !== undefined ? (
      <AgentPane of={agent} close={close} isAdmin={isAdmin} ended={list.reload} />
    ) : (
      <Detail label="Agent" close={close}>
        {list.value !== null && <Empty title="This token has expired or was revoked" />}
      </Detail>
    );
  return (
    <Split
      title="Agents"
      list={<ShortList of={rows} list={list} open={id} query={query} empty={<NoTokens />} />}
      detail={id === null ? null : detail}
    >
      <a class="button primary" href={writeRoute("agents", "new")}>
        Create token
      </a>
    </Split>
  );
}

const rows: Rows<SessionInfo> = {
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
      width: "96px",
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
  ],
  narrow: `"title time" "kind by" / minmax(0, 1fr) auto`,
  address: ({ id }) => writeRoute("agents", id),
};

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
