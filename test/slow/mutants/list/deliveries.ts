import type { Mutant } from "../mutant.ts";

export const deliveries: readonly Mutant[] = [
  // A genuine event is never taken for another.
  {
    name: "name-not-in-the-key",
    breaks: "deliveries with equal bodies and other listed names are other events",
    changes: [
      [
        "src/inbound/receive/delivery-key.ts",
        "const { unsignedName = null } = normalised;",
        "const unsignedName = null;",
      ],
    ],
    noticedBy: [
      "test/inbound/receive/identity.test.ts",
      "keeps an equal body once for each listed name",
    ],
  },
  {
    name: "unlisted-names-in-the-key",
    breaks: "a captured body becomes no event for each name that anyone can write",
    changes: [
      [
        "src/inbound/providers/files/describe.ts",
        `unsignedName: isListed ? name : ""`,
        "unsignedName: name",
      ],
    ],
    noticedBy: [
      "test/inbound/receive/identity.test.ts",
      "keeps an equal body once for each listed name",
    ],
  },
  {
    name: "signed-time-not-in-the-key",
    breaks: "deliveries with equal bodies and other signed times are other events",
    changes: [
      [
        "src/inbound/signatures/signature.ts",
        `if (typeof piece === "string") signedContext +=`,
        `if (Object.is(piece, "")) signedContext +=`,
      ],
    ],
    noticedBy: [
      "test/inbound/receive/identity.test.ts",
      "keeps an equal body of another id and time",
    ],
  },
  {
    name: "retry-signed-again-is-new",
    breaks: "a retry with the same id and another signed time is a duplicate",
    changes: [
      [
        "src/inbound/receive/first-delivery.ts",
        "if (isKeyOfId(provider.id, idempotencyKey)) {",
        "if (isKeyOfId(provider.id, idempotencyKey) && event.recovered) {",
      ],
    ],
    noticedBy: [
      "test/inbound/receive/identity.test.ts",
      "recognises a retry that is signed again, if it has an id",
    ],
  },
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
      "test/inbound/receive/receive.test.ts",
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
      "test/inbound/receive/receive.test.ts",
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
