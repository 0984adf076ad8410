import type { Mutant } from "../mutant.ts";

const limits = "test/outbound/destinations/limits.test.ts";

/** Ways to break the limits of destinations and of changes. */
export const destinations: readonly Mutant[] = [
  {
    name: "destinations-of-user-unlimited",
    breaks: "a user has at most five destinations, also if many are created at once",
    changes: [
      [
        "src/outbound/destinations.sql.ts",
        "${ofOwner} < ${p.maxOfOwner} and",
        "${ofOwner} >= 0 and",
      ],
    ],
    noticedBy: [limits, "of twelve destinations that a user creates at once, five are stored"],
  },
  {
    name: "destinations-of-users-unlimited",
    breaks: "all users together have at most 1,000 destinations",
    changes: [
      ["src/outbound/destinations.sql.ts", "${ofUsers} < ${p.maxOfUsers}", "${ofUsers} >= 0"],
    ],
    noticedBy: [limits, "all users together have 1,000 destinations, and the operators 100"],
  },
  {
    name: "destination-name-of-all",
    breaks: "two users may choose the same name for a destination",
    changes: [
      ["src/schema/sqlite/0020_destination_names.sql", "(coalesce(owner_id, ''), name)", "(name)"],
    ],
    noticedBy: [limits, "two users may choose the same name, and one may not choose it twice"],
  },
  {
    name: "changes-unlimited",
    breaks: "a user makes at most 30 recorded changes a minute",
    changes: [["src/identity/limiter.ts", "if (writes.fail(id)) return;", "return;"]],
    noticedBy: [
      "test/outbound/destinations/changes.test.ts",
      "of a user are limited to 30 in a minute",
    ],
  },
  {
    name: "secret-shown-again",
    breaks: "a retry with an idempotency key does not return the secret again",
    changes: [
      [
        "src/outbound/destinations/destinations.ts",
        "async (id) => ({ ...shown(await find.toChange(ctx, id)), secret: null }),",
        `async (id) => {
          const stored = await find.toChange(ctx, id);
          return { ...shown(stored), secret: readSecrets(keys(), stored).secret };
        },`,
      ],
    ],
    noticedBy: [
      "test/outbound/destinations/destinations-rest.test.ts",
      "creates one per Idempotency-Key, and returns its secret to the first request only",
    ],
  },
  {
    name: "change-wakes-all",
    breaks: "a change of one destination costs the others nothing",
    changes: [["src/outbound/deliveries/notifier.ts", "wake(changed);", "wake(null);"]],
    noticedBy: ["test/outbound/deliveries/targets.test.ts", "a change wakes no other destination"],
  },
];
