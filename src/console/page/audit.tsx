import { auditFilters } from "../../identity/audit/audit-filters.ts";

import { apiQuery, Filters } from "./filters.tsx";
import { listView } from "./list-view.tsx";
import { idIn } from "./palette/command.ts";
import { writeRoute } from "./route.ts";
import { timeColumn } from "./rows.tsx";
import { words } from "./text.tsx";
import { TimeFilter } from "./time-filter.tsx";
import { Empty } from "./ui.tsx";
import type { AuditItem } from "./wire.ts";

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
export const AuditView = listView<AuditItem>({
  view: "audit",
  what: ["audit entry", "audit entries"],
  path: (query, range) => `v1/audit?${apiQuery(query, auditFilters, range)}`,
  pollIntervalMs: 5_000,
  columns: [
    { head: "Action", at: "title", width: "200px", cell: ({ action }) => actionText(action) },
    { head: "Subject", at: "kind", look: "mono", cell: ({ subject }) => subject },
    {
      head: "Detail",
      at: "detail-text",
      look: "quiet",
      isWideOnly: true,
      cell: ({ detail }) => detail,
      tip: ({ detail }) => detail,
    },
    { head: "By", at: "by", width: "minmax(0, 260px)", look: "mono", cell: ({ actor }) => actor },
    timeColumn("When"),
  ],
  narrow: `"title time" "kind by" / minmax(0, 1fr) minmax(0, auto)`,
  address: addressOf,
  useSuggestions: (items) => [...new Set(items?.map(({ actor }) => actor))].toSorted(),
  filters: ({ route, suggestions }) => (
    <Filters
      of={auditFilters}
      route={route}
      controls={{
        action: {
          all: "All actions",
          options: Object.keys(groups),
          labelOf: (action) => groups[action] ?? action,
        },
        actor: { placeholder: "User", options: suggestions },
        subject: { placeholder: "Name or ID" },
        time: TimeFilter,
      }}
    />
  ),
  noMatch: () => <Empty title="No entries match these filters" />,
  empty: (
    <Empty title="No entries yet">
      <p>
        Sign-ins, replays, rotations, bodies that were read, and changes of destinations and
        providers appear here.
      </p>
    </Empty>
  ),
});

const actionText = (action: string) => words(action.replace(".", " ").replaceAll("_", " "));

/** A link where the console has a page for the subject. */
function addressOf({ action, subject }: AuditItem): string | null {
  if (action.startsWith("provider.")) return writeRoute("providers", subject);
  // A removed destination has no page, and the list has the names of destinations only.
  if (action.startsWith("destination.")) return writeRoute("destinations");
  if (action.startsWith("issue.")) return writeRoute("issues");
  const found = idIn(subject);
  return found === null ? null : writeRoute(found.view, found.id);
}
