import type { Mutant } from "../mutant.ts";

export const bookings: readonly Mutant[] = [
  // Seats are sold once and released once.
  {
    name: "seats-not-guarded",
    breaks: "the statement that takes seats checks that they are left",
    changes: [
      ["src/booking/flights/flights.sql.ts", "gte(flights.seatsAvailable, p.seats),", ""],
      [
        "src/schema/sqlite/0002_bookings.sql",
        "check (seats_available between 0 and seats)",
        "check (seats >= 0)",
      ],
    ],
    noticedBy: ["test/booking/bookings/sale.test.ts", "are never oversold"],
  },
  {
    name: "seats-below-zero",
    breaks: "the database itself refuses to sell a seat twice",
    changes: [
      [
        "src/schema/sqlite/0002_bookings.sql",
        "check (seats_available between 0 and seats)",
        "check (seats >= 0)",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "seats left are never fewer than none or more than there are",
    ],
  },
  {
    name: "seats-below-zero-postgres",
    breaks: "PostgreSQL, too, refuses to sell a seat twice",
    changes: [
      [
        "src/schema/postgres/0001_initial.sql",
        "check (seats_available between 0 and seats)",
        "check (seats >= 0)",
      ],
    ],
    noticedBy: [
      "test/slow/db/postgres/postgres.test.ts",
      "seats left are never fewer than none or more than there are",
    ],
  },
  {
    name: "seats-released-twice",
    breaks: "a second cancellation at the same time releases no seats",
    changes: [
      [
        "src/booking/bookings/cancellation.ts",
        `      "stop",
`,
        "",
      ],
    ],
    noticedBy: [
      "test/booking/bookings/sale.test.ts",
      "are released once when many requests cancel at once [API6-2]",
    ],
  },
  {
    name: "refunded-twice",
    breaks: "a later cancellation returns the first one's refund",
    changes: [
      [
        "src/booking/bookings/bookings.sql.ts",
        `refundReason: p.refundReason,
      })
      .where(and(eq(t.bookings.id, p.id), startsAt(t, name))),`,
        `refundReason: p.refundReason,
      })
      .where(and(eq(t.bookings.id, p.id))),`,
      ],
      ["src/booking/bookings/bookings.ts", `booking.status !== "cancelled" &&`, ""],
      [
        "src/booking/bookings/cancellation.ts",
        "{ id: booking.flightId, seats: booking.seats }",
        `{ id: booking.flightId, seats: booking.status === "cancelled" ? 0 : booking.seats }`,
      ],
    ],
    noticedBy: ["test/booking/bookings/cancellation.test.ts", "after booking refunds"],
  },
  {
    name: "refund-rounded-up",
    breaks: "refunds are rounded down to the minor unit",
    changes: [
      [
        "src/booking/bookings/refund.ts",
        "Math.floor((booking.totalMinor",
        "Math.ceil((booking.totalMinor",
      ],
    ],
    noticedBy: ["test/booking/bookings/cancellation.test.ts", "is rounded down to the minor unit"],
  },
  {
    name: "passport-mostly-shown",
    breaks: "a masked passport number shows at most a third of its characters",
    changes: [
      [
        "src/booking/personal-data/personal-data.ts",
        "Math.min(4, Math.floor(passportNumber.length / 3))",
        "Math.min(4, passportNumber.length)",
      ],
    ],
    noticedBy: ["test/booking/personal-data/personal-data.test.ts", "masks A1234 as *****4"],
  },
  {
    name: "name-search-ascii",
    breaks: "a search by last name ignores the case of all letters",
    changes: [
      [
        "src/booking/bookings/name-folding.ts",
        `name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")`,
        "name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())",
      ],
    ],
    noticedBy: [
      "test/booking/bookings/booking-search.test.ts",
      "finds the last name Éluard whatever its case",
    ],
  },
  {
    name: "holds-unlimited",
    breaks: "a user holds few seats of a flight without paying",
    changes: [
      [
        "src/booking/bookings/bookings.sql.ts",
        ` and \${startsAt(t, "expire")}) < \${p.limit}\``,
        ` and \${startsAt(t, "expire")}) < 100 * \${p.limit}\``,
      ],
    ],
    noticedBy: ["test/booking/bookings/holds.test.ts", "is limited to three per user and flight"],
  },
];
