import type { Mutant } from "../mutant.ts";

export const access: readonly Mutant[] = [
  // Everybody sees what is theirs.
  {
    name: "any-owner-rest",
    breaks: "a user reads, quotes and cancels own bookings only",
    changes: [
      [
        "src/booking/bookings/bookings.ts",
        "const userId = readableBy(ctx);",
        "const userId = readableBy(ctx) === null ? null : null;",
      ],
    ],
    noticedBy: ["test/security/strangers.test.ts", "cancel: return the same response"],
  },
  {
    name: "any-owner-graphql",
    breaks: "a user reads own bookings only, by GraphQL too",
    changes: [
      [
        "src/booking/bookings/bookings.ts",
        `    async find(ctx, ids) {
      const found = await storage.all(bookingsByIds, {
        ids: ids.filter(isBookingId),
        userId: readableBy(ctx),`,
        `    async find(ctx, ids) {
      const found = await storage.all(bookingsByIds, {
        ids: ids.filter(isBookingId),
        userId: readableBy(ctx) === null ? null : null,`,
      ],
    ],
    noticedBy: ["test/security/strangers.test.ts", "GraphQL query: return the same response"],
  },
  {
    name: "any-owner-passengers",
    breaks: "a user reads the passengers of own bookings only",
    changes: [
      [
        "src/booking/bookings/bookings.ts",
        `storage.all(passengersOfBookings, {
        ids: ids.filter(isBookingId),
        userId: readableBy(ctx),`,
        `storage.all(passengersOfBookings, {
        ids: ids.filter(isBookingId),
        userId: readableBy(ctx) === null ? null : null,`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/bookings.test.ts",
      "returns passengers of own bookings only",
    ],
  },
  {
    name: "any-owner-list",
    breaks: "a user lists own bookings only",
    changes: [
      [
        "src/booking/bookings/bookings.ts",
        "if (userId !== ctx.actor.id || q !== undefined) requireAdmin(ctx);",
        "if (q !== undefined) requireAdmin(ctx);",
      ],
    ],
    noticedBy: [
      "test/booking/bookings/bookings.test.ts",
      "lists a user's own bookings, and for admins all or one user's",
    ],
  },
  {
    name: "any-owner-search",
    breaks: "only admins search bookings",
    changes: [
      [
        "src/booking/bookings/bookings.ts",
        "if (userId !== ctx.actor.id || q !== undefined) requireAdmin(ctx);",
        "if (userId !== ctx.actor.id) requireAdmin(ctx);",
      ],
    ],
    noticedBy: ["test/booking/bookings/booking-search.test.ts", "is 403 for the role user"],
  },
  {
    name: "operator-is-admin",
    breaks: "the role operator sees no bookings",
    changes: [
      [
        "src/base/context.ts",
        `return actor.roles.includes("admin");`,
        `return actor.roles.includes("admin") || actor.roles.includes("operator");`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/bookings.test.ts",
      "lets an admin read and cancel any booking, but not an operator [API5-3]",
    ],
  },
  {
    name: "user-is-operator",
    breaks: "the role user sees no events",
    changes: [
      [
        "src/base/context.ts",
        `return actor.roles.includes("operator") || actor.roles.includes("admin");`,
        "return actor.roles.length > 0;",
      ],
    ],
    noticedBy: ["test/events/operator-api.test.ts", "rejects the role user [API5-1]"],
  },
  {
    name: "owner-in-events",
    breaks: "operators do not learn who booked",
    changes: [
      [
        "src/booking/bookings/booking-event.ts",
        "actor: actor === null || actor.id === userId ? null : actor.id,",
        `actor: actor === null || actor.id === "" ? null : actor.id,`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/bookings.test.ts",
      "creates events for operators without personal data",
    ],
  },
  {
    name: "unknown-client-answered-faster",
    breaks: "the time does not tell which clients exist",
    changes: [
      [
        "src/identity/auth/clients.ts",
        "const isRight = crypto",
        "const isRight = client !== undefined && crypto",
      ],
    ],
    noticedBy: [
      "test/security/strangers.test.ts",
      "an unknown client costs the statement and the comparison of a wrong secret [TIME-2]",
    ],
  },
  {
    name: "audience-not-checked",
    breaks: "a token for another audience is not valid",
    changes: [
      [
        "src/identity/auth/token.ts",
        `        audience,
        requiredClaims`,
        "        requiredClaims",
      ],
    ],
    noticedBy: ["test/identity/auth/token.test.ts", "for another audience is invalid [API2-1]"],
  },
  {
    name: "algorithm-not-checked",
    breaks: "a token signed with another algorithm is not valid",
    changes: [["src/identity/auth/token.ts", "algorithms: [algorithm],", ""]],
    noticedBy: [
      "test/identity/auth/token.test.ts",
      "signed with another algorithm and the right key is invalid [API2-1]",
    ],
  },
  {
    name: "provider-audience-not-checked",
    breaks: "an identity provider's token for another audience is not valid",
    changes: [
      [
        "src/identity/auth/jwks.ts",
        `        audience,
        requiredClaims`,
        "        requiredClaims",
      ],
    ],
    noticedBy: ["test/identity/auth/jwks.test.ts", "for another audience is 401 [API2-3]"],
  },
  {
    name: "provider-algorithm-not-checked",
    breaks: "an identity provider's token signed with another algorithm is not valid",
    changes: [
      [
        "src/identity/auth/jwks.ts",
        `        algorithms,
`,
        "",
      ],
    ],
    noticedBy: [
      "test/identity/auth/jwks.test.ts",
      "signed with an unsupported algorithm is 401 [API2-3]",
    ],
  },
  {
    name: "console-code-used-twice",
    breaks: "a link to the console signs in once",
    changes: [
      [
        "src/identity/auth/console-codes.ts",
        "write(insertIdempotency, used, invalidCode())",
        "write(insertIdempotency, used)",
      ],
    ],
    noticedBy: ["test/console/console.test.ts", "can be exchanged once"],
  },
  {
    name: "passports-unsealed",
    breaks: "passports and birth dates are stored encrypted",
    changes: [
      [
        "src/base/sealing.ts",
        "Buffer.concat([cipher.update(text), cipher.final()])",
        "Buffer.from(text)",
      ],
      ["src/base/sealing.ts", "cipher.getAuthTag()", "Buffer.alloc(tagBytes)"],
      [
        "src/base/sealing.ts",
        "Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()])",
        "bytes.subarray(headBytes)",
      ],
    ],
    noticedBy: [
      "test/booking/personal-data/personal-data.test.ts",
      "appear in no file, log, event, response or error [API3-5]",
    ],
  },
  {
    name: "passports-movable",
    breaks: "an encrypted passport cannot be moved to another booking",
    changes: [
      [
        "src/booking/personal-data/personal-data.ts",
        "return `${bookingId}/${position}`;",
        "return `${bookingId}/${position}`.slice(0, 3);",
      ],
    ],
    noticedBy: [
      "test/booking/personal-data/personal-data.test.ts",
      "does not decrypt for another booking or passenger, or after a changed bit [API3-6]",
    ],
  },
  {
    name: "request-hash-without-key",
    breaks: "passports cannot be guessed from the hash of a request",
    changes: [
      [
        "src/identity/idempotency/idempotent.ts",
        `new Bun.CryptoHasher("sha256", key)`,
        `new Bun.CryptoHasher("sha256", key.length > 0 ? "" : key)`,
      ],
    ],
    noticedBy: [
      "test/booking/bookings/idempotent-booking.test.ts",
      "is stored with a hash of the request that cannot be computed without",
    ],
  },
];
