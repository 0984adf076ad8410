import { apiQuery, SelectFilter, TextFilter } from "./filters.tsx";
import { ListPane, Split } from "./list-pane.tsx";
import { useList } from "./list.ts";
import { idIn } from "./palette/command.ts";
import { type Route, writeRoute } from "./route.ts";
import { Text, words } from "./text.tsx";
import { TimeFilter, useTimeRange } from "./time-filter.tsx";
import { Time } from "./time.tsx";
import { Empty } from "./ui.tsx";
import type { AuditItem } from "./wire.ts";

const pollIntervalMs = 5_000;
/** Groups of actions, by what they begin with. */
const groups: Readonly<Record<string, string>> = {
  "session.*": "Sign-ins",
  "event*": "Events",
  "rejection.*": "Rejected",
  "replay.*": "Bulk replays",
  "destination.*": "Destinations",
  "provider.*": "Providers",
  "issue.*": "Issues",
};

/** The Audit view, for admins: who did what, and when. */
export function AuditView({ route }: { readonly route: Route }) {
  const { query } = route;
  const path = `v1/audit?${apiQuery(query, ["action", "actor", "subject"], useTimeRange(query))}`;
  const list = useList<AuditItem>(path, pollIntervalMs);
  const actors = [...new Set(list.items?.map(({ actor }) => actor))].toSorted();
  return (
    <Split
      title="Audit"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <SelectFilter
            route={route}
            name="action"
            label="Action"
            all="All actions"
            options={Object.keys(groups)}
            labelOf={(action) => groups[action] ?? action}
          />
          <TextFilter route={route} name="actor" label="By" placeholder="User" options={actors} />
          <TextFilter
            route={route}
            name="subject"
            label="Subject"
            placeholder="Name or ID"
            options={[]}
          />
          <TimeFilter route={route} />
          {query.size > 0 && <a href={writeRoute("audit")}>Clear filters</a>}
        </form>
      }
      list={
        <ListPane
          what={["audit entry", "audit entries"]}
          list={list}
          open={null}
          query={query}
          head={["Action", "Subject", "Detail", "By", "When"]}
          empty={
            query.size > 0 ? (
              <Empty title="No entries match these filters" />
            ) : (
              <Empty title="No entries yet">
                <p>
                  Sign-ins, replays, rotations, bodies that were read, and changes of destinations
                  and providers appear here.
                </p>
              </Empty>
            )
          }
          row={(entry) => <Entry entry={entry} />}
        />
      }
      detail={null}
    />
  );
}

/** A link where the console has a page for the subject. */
function Entry({ entry }: { readonly entry: AuditItem }) {
  const address = addressOf(entry);
  const cells = <Cells entry={entry} />;
  if (address === null) return <div class="row audit-entry">{cells}</div>;
  return (
    <a class="row audit-entry" href={address} data-row>
      {cells}
    </a>
  );
}

function Cells({
  entry: { action, subject, detail, actor, createdAt },
}: {
  readonly entry: AuditItem;
}) {
  return (
    <>
      <span class="cell title">{words(action.replace(".", " ").replaceAll("_", " "))}</span>
      <span class="cell kind mono">
        <Text of={subject} />
      </span>
      <span class="cell source quiet" title={detail ?? undefined}>
        {detail !== null && <Text of={detail} />}
      </span>
      <span class="cell size mono">
        <Text of={actor} />
      </span>
      <span class="cell time">
        <Time at={createdAt} />
      </span>
    </>
  );
}

function addressOf({ action, subject }: AuditItem): string | null {
  if (action.startsWith("provider.")) return writeRoute("providers", subject);
  // A removed destination has no page, and the list has the names of destinations only.
  if (action.startsWith("destination.")) return writeRoute("destinations");
  if (action.startsWith("issue.")) return writeRoute("issues");
  const found = idIn(subject);
  return found === null ? null : writeRoute(found.view, found.id);
}
