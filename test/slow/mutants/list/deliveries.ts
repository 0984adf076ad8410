import type { Mutant } from "../mutant.ts";

export const deliveries: readonly Mutant[] = [
  // Each delivery is stored once.
  {
    name: "key-not-unique",
    breaks: "one event per idempotency key",
    changes: [
      [
        "src/schema/sqlite/0001_initial.sql",
        "create unique index events_key",
        "create index events_key",
      ],
    ],
    noticedBy: [
      "test/gateway/receive/receive.test.ts",
      "another body with the same signed id is a duplicate",
    ],
  },
  {
    name: "key-not-unique-postgres",
    breaks: "on PostgreSQL, too, one event per idempotency key",
    changes: [
      [
        "src/schema/postgres/0001_initial.sql",
        "create unique index events_key",
        "create index events_key",
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/postgres.test.ts",
      "are stored once per key, and once per provider and body if the body hash is set",
    ],
  },
  {
    name: "bytes-not-unique",
    breaks: "one event per signed bytes, whatever id came with them",
    changes: [
      [
        "src/schema/sqlite/0001_initial.sql",
        "create unique index events_body",
        "create index events_body",
      ],
    ],
    noticedBy: [
      "test/gateway/receive/receive.test.ts",
      "the same signed bytes with a forged id are a duplicate of the first [API10-2]",
    ],
  },
  {
    name: "bytes-not-unique-postgres",
    breaks: "on PostgreSQL, too, one event per signed bytes",
    changes: [
      [
        "src/schema/postgres/0001_initial.sql",
        "create unique index events_body",
        "create index events_body",
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/postgres.test.ts",
      "are stored once per key, and once per provider and body if the body hash is set",
    ],
  },
];
