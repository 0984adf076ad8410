import type { Mutant } from "../mutant.ts";

export const transactions: readonly Mutant[] = [
  // A transaction is stored whole or not at all, and alone.
  {
    name: "failed-statement-kept-sqlite",
    breaks: "a failed transaction leaves nothing, and the others of its group are stored",
    changes: [
      [
        "src/db/sqlite/group.ts",
        `if (!("results" in answer) && writesDone > 0)
        return runWithSavepoints({ transactions, bytes });`,
        "void writesDone;",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "are rolled back alone when a statement changes no row with an error in `onNoRows`",
    ],
  },
  {
    name: "savepoint-not-rolled-back",
    breaks: "the savepoint of a failed transaction is rolled back",
    changes: [
      [
        "src/db/sqlite/group.ts",
        `if (!("results" in answer)) client.run("rollback to single");`,
        "",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "are rolled back alone when a constraint fails, at any position in the group",
    ],
  },
  {
    name: "failed-group-lost-postgres",
    breaks: "on PostgreSQL, too, the others of a failed transaction's group are stored",
    changes: [
      [
        "src/db/postgres/group-commit.ts",
        "const undone = failed.some(({ next }) => next > 1);",
        "const undone = false;",
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/postgres.test.ts",
      "are rolled back alone when a statement changes no row with an error in `onNoRows`",
    ],
  },
  {
    name: "unknown-commit-repeated",
    breaks: "on PostgreSQL a transaction that may be committed is not repeated",
    changes: [
      [
        "src/db/postgres/transaction.ts",
        "throw known ? error : unusable(error);",
        "throw known ? error : error;",
      ],
      [
        "src/db/postgres/transaction.ts",
        `sqlStateOf(error)?.startsWith("57P") ? error : unusable(error)`,
        `sqlStateOf(error)?.startsWith("57P") ? error : error`,
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/faults.test.ts",
      "a transaction whose connection breaks during its commit is not repeated",
    ],
  },
  {
    name: "locks-in-any-order",
    breaks: "sales of the same flights do not deadlock on PostgreSQL",
    changes: [
      [
        "src/db/postgres/transaction.ts",
        "[...ids].toSorted((one, other) => one - other)",
        "[...ids]",
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/concurrency.test.ts",
      "transactions that sell seats of the same flights in opposite orders do not deadlock",
    ],
  },
  {
    name: "health-locked-in-any-order",
    breaks: "attempts at the same destinations do not deadlock on PostgreSQL",
    changes: [
      [
        "src/outbound/destinations.sql.ts",
        `    .returning({ failures, openUntil });
}, healthIsContended);`,
        `    .returning({ failures, openUntil });
});`,
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/concurrency.test.ts",
      "transactions that record failures of the same destinations in opposite orders do not deadlock",
    ],
  },
  {
    name: "outbox-in-another-transaction",
    breaks: "an event and its notifications are stored together",
    changes: [
      [
        "src/inbound/receive/store-delivery.ts",
        `    ...(effect?.writes ?? []),
    ...notifications,
  );
  return inserted.changes > 0;`,
        `    ...(effect?.writes ?? []),
  );
  if (inserted.changes > 0) await storage.atomically(...notifications);
  return inserted.changes > 0;`,
      ],
    ],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "is not stored if one of its notifications cannot be",
    ],
  },
  {
    name: "booking-without-event",
    breaks: "a booking and its event are stored together",
    changes: [
      [
        "src/booking/bookings/sale.ts",
        `        write(insertEvent, event),
        ...outbox.writesFor(event, [bookingMessage(event)], { ownerId: booking.userId }),
        ...(keyed === null ? [] : reserveKey(keyed, booking.id)),
      );`,
        `        ...(keyed === null ? [] : reserveKey(keyed, booking.id)),
      );
      await storage.atomically(
        write(insertEvent, event),
        ...outbox.writesFor(event, [bookingMessage(event)], { ownerId: booking.userId }),
      );`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/bookings.test.ts",
      "is stored, and cancelled, together with its event",
    ],
  },
  {
    name: "cancellation-without-event",
    breaks: "a cancellation and its event are stored together",
    changes: [
      [
        "src/booking/bookings/cancellation.ts",
        `    write(insertEvent, event),
    ...outbox.writesFor(event, [bookingMessage(event)], { ownerId: booking.userId }),
  );`,
        `  );
  if (cancelled.changes > 0) {
    await storage.atomically(
      write(insertEvent, event),
      ...outbox.writesFor(event, [bookingMessage(event)], { ownerId: booking.userId }),
    );
  }`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/bookings.test.ts",
      "is stored, and cancelled, together with its event",
    ],
  },
  {
    name: "key-in-another-transaction",
    breaks: "a booking and its idempotency key are stored together",
    changes: [
      [
        "src/booking/bookings/sale.ts",
        `...(keyed === null ? [] : reserveKey(keyed, booking.id)),
      );`,
        `);
      if (keyed !== null) await storage.atomically(...reserveKey(keyed, booking.id));`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/idempotent-booking.test.ts",
      "is stored together with its booking",
    ],
  },
];
