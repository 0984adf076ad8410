import type { Mutant } from "../mutant.ts";

const history = "test/booking/bookings/booking-history.test.ts";
const tests = "test/booking/bookings/payments.test.ts";
const late = "test/booking/bookings/late-payments.test.ts";

export const payments: readonly Mutant[] = [
  {
    name: "amount-ignored",
    breaks: "only the exact price confirms a booking",
    changes: [
      [
        "src/booking/booking-state.ts",
        "notice.amountMinor === totalMinor && notice.currency === currency",
        "notice.currency === currency",
      ],
    ],
    noticedBy: [tests, "leaves the booking and notifies operators"],
  },
  {
    name: "currency-ignored",
    breaks: "only the currency of the price confirms a booking",
    changes: [
      [
        "src/booking/booking-state.ts",
        "notice.amountMinor === totalMinor && notice.currency === currency",
        "notice.amountMinor === totalMinor",
      ],
    ],
    noticedBy: [tests, "leaves the booking and notifies operators"],
  },
  {
    name: "decimals-of-iso",
    breaks: "the provider's own decimals of a currency are known",
    changes: [
      [
        "src/inbound/providers/payment_processor.ts",
        "decimals: { ISK: 2, MGA: 0, UGX: 2 },",
        "decimals: {},",
      ],
    ],
    noticedBy: [tests, "is compared in the minor units of"],
  },
  {
    name: "decided-on-stale-reads",
    breaks: "of two events that are decided at once, one has the effect",
    changes: [
      [
        "src/booking/bookings/payments.sql.ts",
        `          eq(bookings.status, p.status),
          eq(bookings.paymentCount, p.paymentCount),
`,
        "",
      ],
      // Within an instance, events of one booking also take turns.
      [
        "src/inbound/receive/store-delivery.ts",
        `inTurn(payment.booking ?? payment.payment ?? "", store)`,
        "store()",
      ],
    ],
    noticedBy: [tests, "counts once, in whatever order its events arrive"],
  },
  {
    name: "reseated-without-seats",
    breaks: "a payment after expiry takes seats only if they are left",
    changes: [
      [
        "src/booking/bookings/payment-effects.ts",
        `...(transition === "reseat" ? [write(takeSeats, seating, changedMeanwhile)] : []),`,
        `...(transition === "reseat" ? [write(takeSeats, seating)] : []),`,
      ],
    ],
    noticedBy: [tests, "of expired holds never sells a seat twice"],
  },
  {
    name: "effect-outside-the-transaction",
    breaks: "the payment's event and the confirmed booking are one transaction",
    changes: [
      [
        "src/inbound/receive/store-delivery.ts",
        `    ...(effect?.writes ?? []),
    ...notifications,
  );
`,
        `    ...notifications,
  );
  if (effect !== null && inserted.changes > 0) await storage.atomically(...effect.writes);
`,
      ],
    ],
    noticedBy: [tests, "is stored together with its effect, or not at all"],
  },
  {
    name: "refund-over-paid",
    breaks: "a refund of more than was paid is not counted",
    changes: [
      ["src/booking/booking-state.ts", "notice.amountMinor > paidMinor", "notice.amountMinor < 0"],
      [
        "src/schema/sqlite/0010_payments.sql",
        "check (refunded_minor between 0 and coalesce(paid_minor, 0))",
        "",
      ],
    ],
    noticedBy: [tests, "which is more than was paid, is reported and not counted"],
  },
  {
    name: "refund-unconstrained",
    breaks: "the database itself refuses a refund of more than was paid",
    changes: [
      [
        "src/schema/sqlite/0010_payments.sql",
        "check (refunded_minor between 0 and coalesce(paid_minor, 0))",
        "",
      ],
    ],
    noticedBy: [tests, "can never exceed what was paid, whatever a statement says"],
  },
  {
    name: "refunds-added-up",
    breaks: "a refund's amount is the sum of all refunds, in whatever order events arrive",
    changes: [["src/booking/booking-state.ts", "notice.amountMinor <= refundedMinor", "false"]],
    noticedBy: [tests, "counts once, in whatever order its events arrive"],
  },
  {
    name: "refunded-payment-confirms",
    breaks: "a payment that was refunded before its event arrived confirms nothing",
    changes: [
      ["src/booking/booking-state.ts", "refundedMinor >= (notice.amountMinor ?? 0)", "false"],
    ],
    noticedBy: [tests, "that arrives before its payment keeps a refunded payment from confirming"],
  },
  {
    name: "early-refund-uncounted",
    breaks: "a refund that arrives before its payment is shown as one of it",
    changes: [
      [
        "src/booking/bookings/payment-effects.ts",
        "          write(countEarlyRefunds, payment),\n",
        "",
      ],
    ],
    noticedBy: [tests, "of a part that arrives before its payment counts, and is reported"],
  },
  {
    name: "refund-of-any-provider",
    breaks: "a payment or refund counts only for a payment of its own provider",
    changes: [
      [
        "src/booking/booking-state.ts",
        "paid?.provider === notice.provider &&",
        "paid !== undefined &&",
      ],
    ],
    noticedBy: [
      "test/booking/bookings/payment-providers.test.ts",
      "does not take a payment of another provider with the same id for its own",
    ],
  },
  {
    name: "failures-hide-problems",
    breaks: "after many failed payments, one that does not fit is still reported",
    changes: [
      [
        "src/booking/booking-state.ts",
        "records.filter(({ outcome }) => outcome === decided.outcome)",
        "records",
      ],
    ],
    noticedBy: [tests, "is reported after any number of failed ones"],
  },
  {
    name: "foreign-payment",
    breaks: "a payment to another account confirms nothing",
    changes: [["src/inbound/providers/payment_processor.ts", 'foreignAccount: "/account",', ""]],
    noticedBy: [tests, "to another account, which can name any booking, confirms nothing"],
  },
  {
    name: "test-payment-counts",
    breaks: "a test payment confirms nothing, unless test mode is on",
    changes: [
      [
        "src/booking/bookings/payment-effects.ts",
        "notice.isTest && !testMode;",
        "notice.isTest && testMode;",
      ],
    ],
    noticedBy: [tests, "that is a test has no effect: payment_intent.succeeded"],
  },
  {
    name: "livemode-ignored",
    breaks: "a Stripe event with livemode false is a test",
    changes: [
      [
        "src/inbound/providers/payment_processor.ts",
        `test: { place: "/livemode", value: false },`,
        "",
      ],
    ],
    noticedBy: [tests, "that is a test has no effect: payment_intent.succeeded"],
  },
  {
    name: "waiting-refund-overlooked",
    breaks: "a payment looks for the refunds that wait for it before it confirms",
    changes: [
      [
        "src/booking/bookings/payment-effects.ts",
        "for (const refund of refunds) await settleRefund({ ...parts, effectOf }, refund, booking.id);",
        "",
      ],
    ],
    noticedBy: [late, "keeps a payment that it returned in full from confirming"],
  },
  {
    name: "waiting-refund-of-any-payment",
    breaks: "a refund waits until its own payment is known",
    changes: [
      [
        "src/booking/bookings/waiting-refunds.sql.ts",
        "payments.reference = waiting_refunds.reference",
        "payments.reference is not null",
      ],
    ],
    noticedBy: [
      "test/booking/bookings/waiting-refunds.test.ts",
      "is not written again while only other payments are known",
    ],
  },
  {
    name: "waiting-refund-left",
    breaks: "a refund that an instance left waiting beside its payment is found",
    changes: [
      [
        "src/booking/bookings/waiting-refunds.ts",
        "for (const refund of found) await settle(refund);",
        "",
      ],
    ],
    noticedBy: [late, "is found if an instance ended before it looked"],
  },
  {
    name: "late-payment-twice",
    breaks: "a stored payment that is found later has its effect once",
    changes: [
      [
        "src/inbound/receive/late-payments.sql.ts",
        "and(eq(events.id, p.id), isNull(events.effect))",
        "and(eq(events.id, p.id))",
      ],
    ],
    noticedBy: [late, "keeps the effect that another instance gave it"],
  },
  {
    name: "payment-search-restarts",
    breaks: "the events of all times are searched for payments once",
    changes: [
      [
        "src/inbound/receive/late-payments.ts",
        "(searched.get(id) ?? stored?.searchedUntil.getTime() ?? 0) - overlapMs",
        "0",
      ],
    ],
    noticedBy: [late, "by an instance that was not reloaded yet"],
  },
  {
    name: "payment-for-two",
    breaks: "a payment pays for one booking",
    changes: [["src/booking/booking-state.ts", ": paidFor !== null", ": false"]],
    noticedBy: [tests, "pays for one booking only"],
  },
  {
    name: "cause-unnamed",
    breaks: "a booking's history names the webhook event that caused each entry",
    changes: [
      [
        "src/booking/bookings/booking-history.ts",
        "return [{ ...byNobody(entry), webhook }];",
        "return [byNobody(entry)];",
      ],
    ],
    noticedBy: [history, "names the webhook event that caused each entry"],
  },
  {
    name: "history-for-owners",
    breaks: "only admins see a booking's history in GraphQL",
    changes: [["src/booking/bookings/bookings.ts", "if (!isAdmin(ctx)) return new Map();", ""]],
    noticedBy: [history, "is in GraphQL for admins, as in REST, and null for the owner"],
  },
  {
    name: "payment-text-logged",
    breaks: "the log repeats no text of a payment's payload",
    changes: [
      [
        "src/booking/bookings/payment-effects.ts",
        `logged: { effect: "no booking", referenceLength: named.length },`,
        `logged: { effect: "no booking", referenceLength: named.length, named },`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/payment-log.test.ts",
      "the log names a payment's booking by its id, and repeats no text of the payload",
    ],
  },
];
