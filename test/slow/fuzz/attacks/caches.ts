import { systemClock } from "../../../../src/base/clock.ts";
import { tokens } from "../../../../src/identity/auth/token.ts";
import { jwtSecret } from "../world.ts";

import { answered, type Attack, flood, post, signatureOf } from "./attack.ts";

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const json = (value: unknown): string => JSON.stringify(value);

/** What is remembered for each different value must have a bound. */
export const cacheAttacks: readonly Attack[] = [
  {
    name: "tokens",
    about: "2,000 different good tokens",
    async run({ fetch }) {
      const issuing = { key: Buffer.from(jwtSecret), issuer: "skyhook", audience: "skyhook" };
      const issuer = tokens(issuing, systemClock);
      await flood(2_000, 16, async (n) => {
        const token = await issuer.mint({ id: `stranger-${n}`, roles: ["user"] }, 600);
        await answered(fetch("/v1/api/bookings", bearer(token)));
      });
    },
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
    name: "cursors",
    about: "2,000 different cursors",
    run: ({ fetch, bearers }) =>
      flood(2_000, 16, (n) => {
        const createdAt = new Date(1_700_000_000_000 + n).toISOString();
        const cursor = Buffer.from(json({ createdAt, id: `evt_${n}` })).toString("base64url");
        return answered(fetch(`/v1/events?cursor=${cursor}`, bearer(bearers.operator)));
      }),
  },
  {
    name: "idempotency-keys",
    about: "1,000 users made, each under a key of its own",
    run: ({ fetch, bearers }) =>
      flood(1_000, 16, (n) => {
        const headers = {
          authorization: `Bearer ${bearers.user}`,
          "idempotency-key": `${n}-${"k".repeat(200)}`,
        };
        const body = json({ name: `Ada ${n}`, email: `ada-${n}@example.com` });
        return answered(fetch("/v1/users", post(body, headers)));
      }),
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
  {
    name: "delivery-ids",
    about: "1,000 rightly signed deliveries of 2 KB, each under an id of its own",
    run: ({ fetch }) =>
      flood(1_000, 16, (n) => {
        const body = json({ event_name: "item:added", n, padding: "x".repeat(2_000) });
        const headers = {
          ...signatureOf("task_tracker", body),
          "x-tasktracker-delivery-id": `${n}`,
        };
        return answered(fetch("/webhooks/task_tracker", post(body, headers)));
      }),
  },
  {
    name: "client-secrets",
    about: "500 attempts at /v1/auth/token, each of another client",
    run: ({ fetch }) =>
      flood(500, 16, (n) => {
        const body = json({
          grant_type: "client_credentials",
          client_id: `client_${n}`,
          client_secret: "x".repeat(10_000),
        });
        return answered(fetch("/v1/auth/token", post(body)));
      }),
  },
];
