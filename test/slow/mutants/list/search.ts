import type { Mutant } from "../mutant.ts";

const file = "test/events/event-search.test.ts";
const pages = "form the list that a plain filter of all events gives";

export const search: readonly Mutant[] = [
  // A search finds what a filter of all events would.
  {
    name: "event-not-queued",
    breaks: "a stored event is queued for the search index in its own transaction",
    changes: [
      [
        "src/schema/sqlite/0012_search.sql",
        "create trigger events_queued after insert on events begin\n  insert",
        "create trigger events_queued after insert on events when new.id is null begin\n  insert",
      ],
    ],
    noticedBy: [file, "is behind after a crash and catches up from its queue"],
  },
  {
    name: "search-behind",
    breaks: "a search finds what was acknowledged before it",
    changes: [
      [
        "src/events/events.ts",
        "if (needsIndex(filters)) await index.caughtUp();",
        "void needsIndex;",
      ],
    ],
    noticedBy: [file, "finds a webhook as soon as it is acknowledged"],
  },
  {
    name: "search-ignores-other-instances",
    breaks: "a search waits for the events that another instance is indexing",
    changes: [
      [
        "src/events/search-index.ts",
        "if (!hasMore) await Bun.sleep(otherInstanceMs);",
        "if (!hasMore) return true;",
      ],
    ],
    noticedBy: [
      "test/events/search-index.test.ts",
      "waits for the events that another instance is indexing",
    ],
  },
  {
    name: "search-any-word",
    breaks: "all words of a search must match",
    changes: [["src/db/sqlite/dialect.ts", `.join(" AND ")`, `.join(" OR ")`]],
    noticedBy: [file, pages],
  },
  {
    name: "search-cut-within-millisecond",
    breaks: "a page of a search ends within a millisecond in the order of the list",
    changes: [["src/db/search.ts", "if (!isCut) return", "if (!isCut || needed > 0) return"]],
    noticedBy: [
      file,
      "a page of a search that ends within a millisecond has the first of it in the order of the list",
    ],
  },
  {
    name: "count-of-words-at-once",
    breaks: "other requests are answered while a search is counted",
    changes: [
      [
        "src/db/search.ts",
        "return row?.position;",
        "return row?.position === undefined ? row?.position : undefined;",
      ],
    ],
    noticedBy: ["test/events/totals.test.ts", 'before the count of "q=build" ends'],
  },
  {
    name: "count-in-one-turn",
    breaks: "other requests are answered between two slices of a count",
    changes: [["src/db/in-turn.ts", "lastSlice.then(nextTurn)", "lastSlice"]],
    noticedBy: ["test/db/count.test.ts", "each turn of the event loop counts one slice"],
  },
  {
    name: "range-end-inclusive",
    breaks: "the end of a time range is exclusive",
    changes: [
      [
        "src/db/part.ts",
        "time: [isNewestFirst ? sql`${createdAt} < ${time}`",
        "time: [isNewestFirst ? sql`${createdAt} <= ${time}`",
      ],
    ],
    noticedBy: [file, "includes from and excludes to"],
  },
  {
    name: "range-forgotten-after-cursor",
    breaks: "a time range also limits the pages after the first",
    changes: [
      [
        "src/db/part.ts",
        "...(isBounded ? [end] : [])",
        '...(isBounded && kind !== "item" ? [end] : [])',
      ],
    ],
    noticedBy: [file, pages],
  },
  {
    name: "delivery-state-of-any",
    breaks: "the worst notification decides the state of an event's deliveries",
    changes: [
      [
        "src/schema/sqlite/0012_search.sql",
        "select status from notifications where event_id = old.event_id\n      order by case status when 'dead' then 1",
        "select status from notifications where event_id = old.event_id\n      order by case status when 'dead' then 5",
      ],
    ],
    noticedBy: [file, "returns each event under the worst status of its notifications"],
  },
  {
    name: "delivery-state-not-followed",
    breaks: "the state of an event's deliveries follows its notifications",
    changes: [
      [
        "src/schema/sqlite/0012_search.sql",
        "when old.status <> new.status begin",
        "when old.status is null begin",
      ],
    ],
    noticedBy: [file, "follows each delivery"],
  },
  {
    name: "deleted-event-found",
    breaks: "retention also deletes from the search index",
    changes: [
      ["src/schema/sqlite/0012_search.sql", "delete from event_states where id = old.id;", ""],
    ],
    noticedBy: [file, "finds what a replay has changed, and not what retention has deleted"],
  },
  {
    name: "type-prefix-merged-unsorted",
    breaks: "a type prefix merges its types in the order of the list",
    changes: [
      [
        "src/db/merge.ts",
        "order(other, one) < 0 ? head : best",
        "order(other, one) > 0 ? head : best",
      ],
    ],
    noticedBy: [file, pages],
  },
];
