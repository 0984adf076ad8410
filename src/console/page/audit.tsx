import { auditFilters } from "../../identity/audit/audit-filters.ts";
import { destinationFields } from "../../outbound/model/destination-fields.ts";

import { DoneBy } from "./kit/actor.tsx";
import { clockTime, dateAndTime, dayOf } from "./kit/durations.ts";
import { idIn } from "./kit/ids.ts";
import { apiQuery, Filters } from "./kit/list/filters.tsx";
import { listView } from "./kit/list/list-view.tsx";
import { TimeFilter } from "./kit/list/time-filter.tsx";
import { writeRoute } from "./kit/route.ts";
import { type Of, Text, words } from "./kit/text.tsx";
import { Time } from "./kit/time.tsx";
import { Empty, Source } from "./kit/ui.tsx";
import type { AuditItem } from "./kit/wire.ts";

/** Groups of actions, by what they begin with. */
const groups: Readonly<Record<string, string>> = {
  "session.*": "Sign-ins",
  "token.*": "Revoked tokens",
  "access.*": "Ended access",
  "agent.*": "Agents",
  "key.*": "API keys",
  "event*": "Events",
  "rejection.*": "Rejected",
  "replay.*": "Bulk replays",
  "booking.*": "Bookings",
  "person.*": "Persons",
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
    {
      head: "Time",
      at: "time",
      width: "44px",
      cell: ({ createdAt }) => <Time at={createdAt} show={clockTime} />,
    },
    { head: "Action", at: "title", width: "196px", cell: ({ action }) => actionText(action) },
    {
      head: "Subject",
      at: "kind",
      width: "minmax(0, 4fr)",
      cell: (entry) => <Subject of={entry} />,
      tip: ({ subject }) => subject,
    },
    {
      head: "Change",
      at: "changes",
      width: "minmax(0, 5fr)",
      cell: ({ detail, subjectName }) =>
        detail
          ?.split("\n")
          .filter((line) => line !== `name: ${subjectName}`)
          .map((line) => <Change key={line} of={line} />),
    },
    {
      head: "By",
      at: "by",
      width: "minmax(0, 3fr)",
      cell: (it) => <DoneBy of={it} />,
    },
  ],
  narrow: `"title time" "kind by" "changes changes" / minmax(0, 1fr) minmax(0, auto)`,
  sectionOf: ({ createdAt }) => dayOf(new Date(createdAt)),
  address: addressOf,
  filters: ({ route, items }) => (
    <Filters
      of={auditFilters}
      route={route}
      controls={{
        action: {
          all: "All actions",
          options: Object.keys(groups),
          labelOf: (action) => groups[action] ?? action,
        },
        actor: {
          placeholder: "User",
          options: [...new Set(items?.map(({ actor }) => actor))].toSorted(),
        },
        subject: { placeholder: "Name or ID" },
        time: TimeFilter,
      }}
    />
  ),
  noMatch: () => <Empty title="No entries match these filters" />,
  empty: (
    <Empty title="No entries yet">
      <p>
        Sign-ins, replays, rotations, bodies that were read, corrected and refunded bookings, and
        changes of destinations and providers appear here.
      </p>
    </Empty>
  ),
});

/** Where the name of the action says too little. */
const actionTexts: ReadonlyMap<string, string> = new Map([
  ["event.revealed", "Event body read"],
  ["rejection.revealed", "Rejected body read"],
  ["destination.rotated", "Destination secret rotated"],
  ["session.opened", "Signed in"],
  ["session.closed", "Signed out"],
]);

const actionText = (action: string) =>
  actionTexts.get(action) ?? words(action.replace(".", " ").replaceAll("_", " "));

/** The name of what it was done to, where it has one. */
function Subject({ of: { action, subject, subjectName } }: Of<AuditItem>) {
  if (subjectName !== null) return <Text of={subjectName} />;
  if (action.startsWith("provider.")) return <Source of={subject} />;
  if (action.startsWith("issue.")) {
    const [kind = "", ...concerned] = subject.split(" ");
    return <Text of={[words(kind), ...concerned].join(", ")} />;
  }
  return (
    <span class={/^[a-z]+_[0-9a-f]{8}/.test(subject) ? "mono" : ""}>
      <Text of={subject.replace(/^([a-z]+_[0-9a-f]{8})[0-9a-f]+([0-9a-f]{6})$/, "$1…$2")} />
    </span>
  );
}

const labels: ReadonlyMap<string, string> = new Map(
  Object.entries(destinationFields).map(([field, { label }]) => [field, label]),
);

/**
 * A line of the detail: a field with its values before and after, the fields of a passenger that were corrected, or a text
 * in which times are readable.
 */
function Change({ of: line }: Of<string>) {
  if (/^passenger \d+: /.test(line)) {
    const text = line.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return <Text of={words(text)} />;
  }
  const [, field, before, after] = /^(\w+): (.*?) → (.*)$/.exec(line) ?? [];
  if (field === undefined || before === undefined || after === undefined) {
    const parts = line.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/);
    return (
      <span>
        {parts.map((part, at) =>
          at % 2 === 0 ? <Text of={part} /> : <Time at={part} show={dateAndTime} />,
        )}
      </span>
    );
  }
  return (
    <span>
      {labels.get(field) ?? field}: <Text of={before} /> <span class="quiet">→</span>{" "}
      <ins>
        <Text of={after} />
      </ins>
    </span>
  );
}

/** A link where the console has a page for the subject. */
function addressOf({ action, subject }: AuditItem): string | null {
  if (action.startsWith("provider.")) return writeRoute("providers", subject);
  if (action === "destination.removed") return null;
  if (action.startsWith("issue.")) return writeRoute("issues");
  const found = idIn(subject);
  return found === null ? null : writeRoute(found.view, found.id);
}
