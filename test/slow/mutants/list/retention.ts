import type { Mutant } from "../mutant.ts";

export const retention: readonly Mutant[] = [
  // Nothing is deleted too early.
  {
    name: "undelivered-deleted",
    breaks: "retention keeps events with undelivered notifications",
    changes: [
      [
        "src/events/retention/retention.sql.ts",
        " and ${notifications.status} <> 'delivered')",
        " and ${notifications.status} = 'pending')",
      ],
    ],
    noticedBy: [
      "test/events/retention/retention.test.ts",
      "deletes bodies, then events with their notifications, but keeps",
    ],
  },
  {
    name: "keys-deleted-early",
    breaks: "an idempotency key is kept for a day",
    changes: [
      [
        "src/events/retention/pruner.ts",
        "write(deleteExpiredKeys, { now: new Date(now), limit })",
        "write(deleteExpiredKeys, { now: new Date(now + dayMs), limit })",
      ],
    ],
    noticedBy: ["test/events/retention/retention.test.ts", "keeps idempotency keys for a day"],
  },
  {
    name: "audit-deleted-with-events",
    breaks: "the audit list is kept for its own time",
    changes: [
      [
        "src/events/retention/pruner.ts",
        "until: daysBefore(now, auditDays)",
        "until: expiredUntil(now)",
      ],
    ],
    noticedBy: ["test/events/retention/retention.test.ts", "after 400 days, whatever was done"],
  },
  {
    name: "deleted-after-a-clock-jump",
    breaks: "a clock that jumps forward deletes nothing for an hour",
    changes: [
      [
        "src/events/retention/pruner.ts",
        "if (clock.now() - nextRoundMs > jumpMs) {",
        "if (clock.now() - nextRoundMs > 1_000 * dayMs) {",
      ],
    ],
    noticedBy: [
      "test/slow/faults/clock.test.ts",
      "deletes nothing for an hour after the clock jumped forward",
    ],
  },
  {
    name: "rejections-of-all-unbounded",
    breaks: "rejections of many providers do not fill the disk",
    changes: [
      [
        "src/inbound/rejections/rejections.ts",
        "...(isPruning ? [write(pruneRejectionBytes, bound)] : []),",
        "",
      ],
    ],
    noticedBy: [
      "test/inbound/rejections/rejections-kept.test.ts",
      "rejections of many providers are bounded by bytes",
    ],
  },
  {
    name: "unknown-provider-is-an-empty-list",
    breaks: "a misspelt provider in a filter is an error",
    changes: [
      [
        "src/inbound/providers/provider-filter.ts",
        "if (known.includes(id) || (await isStored(storage, id))) return;",
        "if (id.length > 0) return;",
      ],
    ],
    noticedBy: [
      "test/events/provider-filter.test.ts",
      "an unknown provider is rejected in GraphQL too",
    ],
  },
];
