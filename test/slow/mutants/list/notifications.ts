import type { Mutant } from "../mutant.ts";

export const notifications: readonly Mutant[] = [
  // Operators are notified at least once, and can tell a repetition.
  {
    name: "lease-ignored",
    breaks: "a notification that is being sent is not claimed again",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.sql.ts",
        `and (\${leasedUntil} is null or \${leasedUntil} <= \${now})
      and \${isNext({ deliveries })}
      order by`,
        "and ${isNext({ deliveries })} order by",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "are claimed once while leased, oldest first, and again after the lease expires",
    ],
  },
  {
    name: "lease-never-ends",
    breaks: "a dead process's notification is sent when its lease ends",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.sql.ts",
        `and (\${leasedUntil} is null or \${leasedUntil} <= \${now})
      and \${isNext({ deliveries })}
      order by`,
        "and ${leasedUntil} is null and ${isNext({ deliveries })} order by",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "are claimed once while leased, oldest first, and again after the lease expires",
    ],
  },
  {
    name: "lease-not-held-when-settled",
    breaks: "only the holder of a lease records the outcome",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.sql.ts",
        "return and(eq(seq, lease.seq), eq(leasedUntil, encoded(lease.leasedUntil, leasedUntil)));",
        "return and(eq(seq, lease.seq), sql`${encoded(lease.leasedUntil, leasedUntil)} is not null`);",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "cannot be settled by a process whose lease expired and was taken by another",
    ],
  },
  {
    name: "locked-rows-claimed-twice",
    breaks: "two instances do not claim the same notification",
    changes: [
      [
        "src/db/postgres/dialect.ts",
        "${column} = any(array(${query} for update skip locked))",
        "${column} = any(array(${query}))",
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/concurrency.test.ts",
      "a claim skips what another instance is claiming, without waiting for it",
    ],
  },
  {
    name: "lease-ends-before-attempt",
    breaks: "a lease lasts longer than an attempt",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.ts",
        "const leaseMs = 30_000;",
        "const leaseMs = 5_000;",
      ],
    ],
    noticedBy: [
      "test/outbound/notifications/notifications.test.ts",
      "is not made while an earlier one may still succeed",
    ],
  },
  {
    name: "leases-of-others-released",
    breaks: "an instance that starts leaves the leases of the others",
    changes: [
      [
        "src/outbound/deliveries/notifier.ts",
        "if (storage.signals === null) await storage",
        "await storage",
      ],
    ],
    noticedBy: [
      "test/slow/instances/instances.test.ts",
      "one that starts does not send what another is sending",
    ],
  },
  {
    name: "webhook-id-per-attempt",
    breaks: "every attempt has the same webhook-id",
    changes: [
      [
        "src/outbound/formats/standard-webhooks.ts",
        `"webhook-id": id,`,
        `"webhook-id": crypto.randomUUID(),`,
      ],
    ],
    noticedBy: [
      "test/outbound/notifications/notifications.test.ts",
      "has the same id and a new signature for every attempt",
    ],
  },
  {
    name: "redirect-followed",
    breaks: "a notification goes to no other address than the configured one",
    changes: [["src/outbound/transports/post.ts", `redirect: "manual",`, `redirect: "follow",`]],
    noticedBy: [
      "test/outbound/notifications/notifications.test.ts",
      "does not follow redirects [API7-3]",
    ],
  },
  {
    name: "retry-after-ignored",
    breaks: "the operator gateway's Retry-After is honoured",
    changes: [
      [
        "src/outbound/notification.ts",
        "return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));",
        "return retryAfterMs === null ? jitteredMs : jitteredMs;",
      ],
    ],
    noticedBy: ["test/outbound/notifications/notifications.test.ts", "Retry-After"],
  },
  {
    name: "order-ignored",
    breaks: "deliveries of one order key are sent in order",
    changes: [
      ["src/outbound/deliveries/outbox.ts", "blocked: orderKey !== null,", "blocked: false,"],
      [
        "src/outbound/deliveries/delivery-queue.sql.ts",
        'not (${isAfter("blocked")} or ${isAfter("not blocked")})',
        "${sql.raw(String(isAfter !== null))}",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/delivery-order.test.ts",
      "get one attempt each after one died, until one succeeds",
    ],
  },
  {
    name: "next-stays-blocked",
    breaks: "when a delivery is settled, the next one with its order key is due",
    changes: [
      [
        "src/outbound/deliveries/attempt.ts",
        "...(outcome.dueAt === null",
        "...(outcome.dueAt === undefined",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/delivery-order.test.ts",
      "become due one after the other, each when the one before it is delivered",
    ],
  },
  {
    name: "retried-stay-blocked",
    breaks: "of dead deliveries that are retried, the first with an order key is due",
    changes: [["src/outbound/deliveries/retries.ts", "    ...ordering,\n", ""]],
    noticedBy: [
      "test/outbound/deliveries/delivery-order.test.ts",
      "are all sent, in their order, after the dead ones are retried",
    ],
  },
  {
    name: "whole-ladder-after-dead",
    breaks: "after a dead delivery, the following ones with its order key get one attempt each",
    changes: [
      [
        "src/outbound/deliveries/attempt.ts",
        "const isOnly = delivery.afterDead && !isProbe;",
        "const isOnly = false;",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/delivery-order.test.ts",
      "get one attempt each after one died, until one succeeds",
    ],
  },
  {
    name: "claim-walks-blocked",
    breaks: "the cost of a claim does not depend on deliveries that wait for others",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.sql.ts",
        "${isDue(dueAt, now)} and not ${deliveries.blocked}",
        "${isDue(dueAt, now)}",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/delivery-order.test.ts",
      "the statements of a queue read no delivery that waits for others",
    ],
  },
  {
    name: "sends-while-circuit-open",
    breaks: "an open circuit sends nothing but probes",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.ts",
        "if (openUntil !== null && openUntil.getTime() > now) return openUntil.getTime() - now;",
        "",
      ],
      [
        "src/outbound/deliveries/delivery-queue.ts",
        "const isProbe = openUntil !== null;",
        "const isProbe = openUntil !== null && openUntil.getTime() <= now;",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/circuit.test.ts",
      "that is open sends one probe every 30 s, and records no attempt that was not made",
    ],
  },
  {
    name: "probes-only-what-is-due",
    breaks: "an open circuit probes what waits, although it is not due",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.sql.ts",
        "export const claimFirst = claim((dueAt) => sql`${dueAt} is not null`);",
        "export const claimFirst = claim((dueAt, now) => sql`${dueAt} <= ${now}`);",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/circuit.test.ts",
      "probes what waits although it is not due, without using up its attempts",
    ],
  },
  {
    name: "probe-uses-up-attempts",
    breaks: "a probe of a delivery that is not due leaves it its attempts",
    changes: [
      [
        "src/outbound/deliveries/attempt.ts",
        "if (isProbe && dueAt !== null && dueAt.getTime() > claimedMs) {",
        "if (isProbe && dueAt === null) {",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/circuit.test.ts",
      "probes what waits although it is not due, without using up its attempts",
    ],
  },
  {
    name: "recovered-waits",
    breaks: "when a circuit closes, what waits is due at once",
    changes: [
      [
        "src/outbound/deliveries/circuit.ts",
        "await retryWaitingOf(parts, { destinationId: destination.id, which: () => true });",
        "",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/circuit.test.ts",
      "is closed by a resume, and what waits is sent at once",
    ],
  },
  {
    name: "rate-by-claim",
    breaks: "in no second is more sent than the rate of a destination",
    changes: [
      [
        "src/outbound/deliveries/rate-limit.ts",
        "Math.abs(at - sentAt) < windowMs",
        "Math.abs(at - sentAt) < windowMs / 2",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/rate-limit.test.ts",
      "sends at most 5 in any second, and no fewer",
    ],
  },
  {
    name: "filter-ignored",
    breaks: "a destination receives only events that its filter matches",
    changes: [
      ["src/outbound/deliveries/targets.ts", "} else if (!result.matches) return [];", "}"],
    ],
    noticedBy: [
      "test/outbound/destinations/destinations.test.ts",
      "reaches every destination whose filter it matches",
    ],
  },
  {
    name: "circuit-never-opens",
    breaks: "a destination that fails ten times in a row gets probes only",
    changes: [
      [
        "src/outbound/deliveries/circuit.ts",
        "const circuitThreshold = 10;",
        "const circuitThreshold = 1_000_000;",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/notifier.test.ts",
      "opens its circuit after ten failures in a row, and then gets one probe at a time",
    ],
  },
  {
    name: "news-wakes-all",
    breaks: "what another process stores costs no look at each destination",
    changes: [["src/outbound/deliveries/dispatcher.ts", "wake(new Set());", "wake(null);"]],
    noticedBy: [
      "test/outbound/deliveries/other-processes.test.ts",
      "a delivery that another process stored wakes its destination only",
    ],
  },
  {
    name: "too-large-is-retried",
    breaks: "a delivery that is answered 413 is dead at once",
    changes: [
      [
        "src/outbound/deliveries/attempt.ts",
        "status === gone || status === tooLarge",
        "status === gone",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/final-statuses.test.ts",
      "413 gets that delivery once, and the others as before",
    ],
  },
  {
    name: "gone-stays-active",
    breaks: "a destination that answers 410 is disabled",
    changes: [
      [
        "src/outbound/deliveries/attempt.ts",
        "const isGone = responseStatus === gone;",
        "const isGone = responseStatus === gone + 1;",
      ],
    ],
    noticedBy: [
      "test/operations/alerts.test.ts",
      "a destination that is gone is announced once, one that a person disabled is not",
    ],
  },
  {
    name: "paused-still-sends",
    breaks: "a paused destination receives nothing until it is resumed",
    changes: [
      [
        "src/outbound/deliveries/delivery-queue.ts",
        `current.destination.state !== "active"`,
        `current.destination.state === "disabled"`,
      ],
    ],
    noticedBy: [
      "test/outbound/destinations/destinations.test.ts",
      "waits while its destination is paused, and goes out in order afterwards",
    ],
  },
  {
    name: "owner-forgotten",
    breaks: "a user's destinations receive all events of that user's bookings",
    changes: [
      [
        "src/booking/bookings/cancellation.ts",
        "{ ownerId: booking.userId }",
        `{ ownerId: \`\${booking.userId}?\` }`,
      ],
    ],
    noticedBy: [
      "test/outbound/destinations/owners.test.ts",
      "receive every event of that user's bookings, and nothing of others",
    ],
  },
  {
    name: "destination-of-another-user",
    breaks: "a user's destination receives no other user's bookings",
    changes: [
      [
        "src/outbound/deliveries/targets.ts",
        "ownerId === null ? [null] : [null, ownerId]",
        "ownerId === null ? [null] : [...idsByOwner.keys()]",
      ],
    ],
    noticedBy: [
      "test/outbound/destinations/destinations.test.ts",
      "receives the events of the user's bookings, and no others",
    ],
  },
  {
    name: "operator-changes-destinations",
    breaks: "only admins change the operators' destinations",
    changes: [
      [
        "src/outbound/destinations/destination-access.ts",
        "if (found.ownerId !== ctx.actor.id) requireAdmin(ctx);",
        "",
      ],
    ],
    noticedBy: ["test/outbound/destinations/destination-access.test.ts", "may not pause them"],
  },
  {
    name: "destination-name-race",
    breaks: "two destinations renamed to one name at once are a 422, not a 500",
    changes: [
      [
        "src/outbound/destinations/destinations.ts",
        "      if (isRenamed) await requireFreeName(next);\n      throw error;",
        "      throw error;",
      ],
    ],
    noticedBy: [
      "test/outbound/destinations/destination-access.test.ts",
      "goes to one of several destinations that are renamed or created at once",
    ],
  },
  {
    name: "address-not-pinned",
    breaks: "a notification goes to the address that was checked",
    changes: [
      [
        "src/base/public-address.ts",
        "pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;",
        "pinned.hostname = isIP(address) === 6 ? `[${address}]` : url.hostname;",
      ],
    ],
    noticedBy: [
      "test/outbound/transports/post.test.ts",
      "connects to the checked address, not to what the name resolves to",
    ],
  },
  {
    name: "expiry-unguarded",
    breaks: "a hold that was paid does not expire",
    changes: [
      [
        "src/booking/bookings/bookings.sql.ts",
        `startsAt(t, "expire"),
        lte(t.bookings.expiresAt, encoded(p.expiredAt, t.bookings.expiresAt)),`,
        "lte(t.bookings.expiresAt, encoded(p.expiredAt, t.bookings.expiresAt)),",
      ],
    ],
    noticedBy: [
      "test/booking/bookings/holds.test.ts",
      "cannot expire after it was paid, nor be paid after it expired",
    ],
  },
  {
    name: "dead-not-sent-again",
    breaks: "a duplicate sends a dead notification again",
    changes: [
      [
        "src/outbound/deliveries/outbox.ts",
        `dead: [rescheduleDead, ["dead"]],`,
        "dead: [rescheduleDead, []],",
      ],
    ],
    noticedBy: [
      "test/outbound/notifications/notifications.test.ts",
      "start again if a duplicate of a dead notification's event is received",
    ],
  },
  {
    name: "replay-with-new-ids",
    breaks: "a replay sends what failed under its own id",
    changes: [
      [
        "src/events/event-replay.ts",
        `stored.status === "accepted" && (onlyUndelivered || sent.some(hasFailed));`,
        `stored.status === "accepted" && onlyUndelivered && sent.some(hasFailed);`,
      ],
    ],
    noticedBy: [
      "test/outbound/notifications/operator-replay.test.ts",
      "again at once, with its own id",
    ],
  },
  {
    name: "replay-sends-nothing",
    breaks: "a replay of what was delivered sends it again, under new ids",
    changes: [
      [
        "src/events/event-replay.ts",
        `stored.status === "accepted" && (onlyUndelivered || sent.some(hasFailed));`,
        `stored.status === "accepted" && (onlyUndelivered || sent.length > 0);`,
      ],
    ],
    noticedBy: [
      "test/outbound/notifications/operator-replay.test.ts",
      "sends new notifications if the first were delivered",
    ],
  },
  {
    name: "feed-skips-open-transactions",
    breaks: "on PostgreSQL the feed waits for a number whose transaction is open",
    changes: [
      [
        "src/db/postgres/dialect.ts",
        'return sql<number>`${functionOf("settled", column)}()`.mapWith(Number);',
        'return sql<number>`coalesce((select max(${column}) from ${column.table}), 0 * length(${functionOf("settled", column)}()::text))`.mapWith(Number);',
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/concurrency.test.ts",
      "the feed waits for a number whose transaction is open",
    ],
  },
  {
    name: "position-of-another-database",
    breaks: "a feed position of another database starts with new notifications",
    changes: [
      [
        "src/outbound/notifications/notifications.rest.ts",
        "Math.min(lastEventId(exchange.request) ?? newest, newest)",
        "lastEventId(exchange.request) ?? newest",
      ],
    ],
    noticedBy: [
      "test/outbound/deliveries/feed.test.ts",
      "starts with new notifications for a Last-Event-ID of another database",
    ],
  },
  {
    name: "issue-retries-others",
    breaks: "a retry of an issue sends only its own deliveries",
    changes: [
      [
        "src/operations/issues/issues.ts",
        "failed.provider === provider && causeOf(failed.lastError) === cause;",
        "failed.provider === provider || causeOf(failed.lastError) === cause;",
      ],
    ],
    noticedBy: [
      "test/operations/issues/issues.test.ts",
      "of waiting deliveries are retried by provider, and the others keep waiting",
    ],
  },
  {
    name: "tests-unlimited",
    breaks: "a caller sends at most 20 tests a minute",
    changes: [["src/identity/limiter.ts", "if (tests.fail(id)) return;", "return;"]],
    noticedBy: [
      "test/outbound/destinations/destinations-rest.test.ts",
      "is tested at most 20 times a minute by a caller, providers included",
    ],
  },
];
