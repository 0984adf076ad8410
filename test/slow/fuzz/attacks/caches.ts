import { tokenFor } from "../../../support/load.ts";

import { answered, type Attack, flood, post } from "./attack.ts";

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** What is remembered for each different value must have a bound. */
export const cacheAttacks: readonly Attack[] = [
  {
    name: "tokens",
    about: "2,000 different good tokens",
    run: ({ fetch }) =>
      flood(2_000, 16, async (n) =>
        answered(fetch("/v1/api/bookings", bearer(await tokenFor("user", `stranger-${n}`)))),
      ),
  },
  {
    name: "bad-tokens",
    about: "2,000 different tokens of 8 KB that are none",
    run: ({ fetch }) =>
      flood(2_000, 16, (n) =>
        answered(fetch("/v1/api/bookings", bearer(`${n}.${"a".repeat(8_000)}.b`))),
      ),
  },
  {
    name: "unknown-paths",
    about: "3,000 different paths, providers and methods that do not exist",
    run: ({ fetch }) =>
      flood(3_000, 16, (n) => {
        const paths = [`/x/${n}/${"y".repeat(500)}`, `/webhooks/p${n}`, `/v1/api/flights/${n}x`];
        return answered(fetch(paths[n % 3] ?? "/", { method: n % 2 === 0 ? "GET" : "POST" }));
      }),
  },
  {
    name: "client-addresses",
    about: "5,000 client addresses, each with a signature that is wrong",
    run: ({ fetch }) =>
      flood(5_000, 16, (n) => {
        const headers = {
          "x-forwarded-for": `10.9.${n >> 8}.${n & 255}`,
          "x-tasktracker-signature": "0".repeat(43),
        };
        return answered(fetch("/webhooks/task_tracker", post("{}", headers)));
      }),
  },
];
