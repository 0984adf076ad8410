import type { Role } from "../../../../src/base/context.ts";
import { bookingBody } from "../../../support/flights.ts";
import { tokenFor } from "../../../support/load.ts";
import { lastAttackedFlight } from "../bystander.ts";
import type { Victim } from "../victim.ts";

import { answered, type Attack, deliver, expectStatus, flood, mebibyte, post } from "./attack.ts";
import { expectNoGrowth, growthLimitMs } from "./growth.ts";

/** An attack by a client with a token. */
interface SignedInAttack extends Pick<
  Attack,
  "name" | "about" | "limitMs" | "leavesRows" | "growthLimitBytes"
> {
  /** The lowest role that can do this. */
  readonly who: Role;
  /** `send` uses a token of that role. */
  run(send: Send, victim: Victim): Promise<void>;
}

/** Sends and returns JSON. Returns null if a limit was reached; throws on any other error. */
type Send = (method: string, path: string, body?: unknown) => Promise<Answer | null>;
type Answer = Record<string, unknown>;

const limited: readonly number[] = [429, 503];

/** A `Send` that uses this token. */
const sendAs =
  ({ fetch }: Victim, token: string): Send =>
  async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-skyhook-console": "1",
    };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(path, { method, headers, ...json });
    const text = await response.text();
    if (limited.includes(response.status)) return null;
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };

/** As many users as stay below the limit of writes, each of whom sends every so often. */
async function asUsers(victim: Victim): Promise<readonly Send[]> {
  const users = Array.from({ length: 8 }, (_, n) => tokenFor("user", `attacker-${n}`));
  return (await Promise.all(users)).map((token) => sendAs(victim, token));
}

/** The user whose turn it is. */
function inTurn<User>(users: readonly User[], n: number): User {
  const user = users[n % users.length];
  if (user === undefined) throw new Error("There is no user");
  return user;
}

const growing = { limitMs: growthLimitMs, leavesRows: true } as const;

const bookings = "/v1/api/bookings";
const booking = (number: number) => bookingBody(1 + (number % lastAttackedFlight));

/** A server that accepts requests and never responds. */
function unresponsive() {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => {}),
  });
  return { url: server.url.href, [Symbol.dispose]: () => void server.stop(true) };
}

const destination = (name: string, url: string, fields: object = {}) => ({
  name,
  format: "json",
  url,
  ...fields,
});

/** A filter that is slow to compile. */
const longFilter = Array.from({ length: 40 }, (_, n) => `event.subject == "${n}"`).join(" || ");

const table: readonly SignedInAttack[] = [
  {
    name: "blocked-destinations",
    about:
      "eight users, five destinations each in one order at a receiver that does not answer, and 6,000 bookings",
    who: "user",
    ...growing,
    async run(_, victim) {
      using receiver = unresponsive();
      const users = await asUsers(victim);
      for (const send of users) {
        for (let n = 0; n < 5; n += 1) {
          const order = { orderBy: "event.provider" };
          await send("POST", "/v1/destinations", destination(`blocked-${n}`, receiver.url, order));
        }
      }
      const book = (n: number) => inTurn(users, n)("POST", bookings, booking(n));
      // A cost of each delivery that waits is small beside that of a booking.
      await expectNoGrowth(victim, book, 2_000);
    },
  },
  {
    name: "destination-changes",
    about: "600 changes of a destination, while 300 are stored",
    who: "user",
    leavesRows: true,
    async run(send, victim) {
      // Of many owners, each of whom stays below every limit.
      await flood(60, 4, async (owner) => {
        const asOwner = sendAs(victim, await tokenFor("user", `owner-${owner}`));
        for (let n = 0; n < 5; n += 1) {
          const stored = destination(`of-${owner}-${n}`, "http://127.0.0.1:1024/", {
            filter: longFilter,
          });
          await asOwner("POST", "/v1/destinations", stored);
        }
      });
      const own = destination("changed", "http://127.0.0.1:1024/");
      const made = await send("POST", "/v1/destinations", own);
      victim.bystander.begin();
      await flood(600, 8, (n) =>
        send("PATCH", `/v1/destinations/${String(made?.["id"])}`, { maxConcurrent: 1 + (n % 64) }),
      );
    },
  },
  {
    name: "destinations-made",
    about: "300 destinations created and removed in a loop",
    who: "user",
    leavesRows: true,
    run: (send) =>
      flood(300, 4, async (n) => {
        const input = destination(`made-${n}`, "http://127.0.0.1:1024/");
        const made = await send("POST", "/v1/destinations", input);
        if (made !== null) await send("DELETE", `/v1/destinations/${String(made["id"])}`);
      }),
  },
  {
    name: "holds",
    about: "3,000 seats held and let go",
    who: "user",
    ...growing,
    async run(_, victim) {
      const users = await asUsers(victim);
      await expectNoGrowth(victim, async (n) => {
        const send = inTurn(users, n);
        const held = await send("POST", bookings, { ...booking(n), hold: true });
        if (held !== null) await send("DELETE", `${bookings}/${String(held["bookingId"])}`);
      });
    },
  },
  {
    name: "query-limits",
    about: "queries of up to 15 lists of bookings and users, while the client has 300 bookings",
    who: "user",
    leavesRows: true,
    async run(send) {
      await flood(300, 16, (n) => send("POST", bookings, booking(n)));
      const lists = [
        "bookings(first: 100) { totalCount edges { node { bookingId flight { airline } passengers { lastName } } } }",
        "bookings(first: 12) { totalCount edges { node { bookingId flight { airline } cancellation { refund { amount } } } } }",
        "users(first: 100) { totalCount edges { node { name email } } }",
        "flights(first: 100) { totalCount edges { node { flightNumber price { amount } } } }",
      ];
      await flood(120, 8, (n) => {
        const aliases = [15, 5, 2][n % 3] ?? 1;
        const list = lists[Math.floor(n / 3) % lists.length] ?? "";
        const parts = Array.from({ length: aliases }, (_, part) => `a${part}: ${list}`);
        return send("POST", "/graphql", { query: `{ ${parts.join(" ")} }` });
      });
    },
  },
  {
    name: "sessions",
    about: "3,000 sessions of the console opened, and as many refused",
    who: "operator",
    ...growing,
    run: (send, victim) =>
      expectNoGrowth(victim, async () => {
        await send("POST", "/v1/auth/session");
        await victim.fetch("/v1/auth/session", post('{"code":"none"}'));
      }),
  },
  {
    name: "keys",
    about: "3,000 idempotency keys, each used for a user, for another one and for a token",
    who: "user",
    ...growing,
    async run(_, victim) {
      const users = Array.from({ length: 8 }, (_user, n) => tokenFor("user", `attacker-${n}`));
      const tokens = await Promise.all(users);
      await expectNoGrowth(victim, async (n) => {
        const email = `key-${n}@example.com`;
        const keyed = (name: string) =>
          victim.fetch(
            "/v1/users",
            post(JSON.stringify({ name, email }), {
              authorization: `Bearer ${inTurn(tokens, n)}`,
              "idempotency-key": `growth-${n}`,
            }),
          );
        await answered(keyed("Ada"));
        await answered(keyed("Grace"));
        const grant = { grant_type: "client_credentials", client_id: `${n}`, client_secret: "x" };
        await answered(victim.fetch("/v1/auth/token", post(JSON.stringify(grant))));
      });
    },
  },
  {
    name: "one-user",
    about:
      "one user books, reads, exports and queries on 16 connections, as fast as it is answered",
    who: "user",
    // Garbage of queries and their responses, until the budget ends.
    growthLimitBytes: 256 * mebibyte,
    leavesRows: true,
    async run(send, victim) {
      const until = performance.now() + 8_000;
      const list = "bookings(first: 100) { nodes { bookingId flight { airline } } }";
      const query = `{ ${Array.from({ length: 5 }, (_, n) => `a${n}: ${list}`).join(" ")} }`;
      const sends = [
        (n: number) => send("POST", bookings, booking(n)),
        () => send("GET", "/v1/me/export"),
        () => send("GET", `${bookings}?limit=100&include=total`),
        () => send("POST", "/graphql", { query }),
      ];
      const revoked = await tokenFor("user", "revoked");
      const refused = { token: revoked };
      await answered(victim.fetch("/v1/auth/revoke", post(JSON.stringify(refused))));
      await flood(1_000_000, 16, async (n) => {
        if (performance.now() > until) return;
        await inTurn(sends, n)(n);
        const headers = { authorization: `Bearer ${revoked}` };
        if (n % 16 === 0) expectStatus(await answered(victim.fetch(bookings, { headers })), 401);
      });
    },
  },
  {
    name: "searches",
    about: "searches, lists, statistics and previews of replays, 8 at a time",
    who: "operator",
    leavesRows: true,
    async run(send, victim) {
      await flood(1_500, 16, () => deliver(victim));
      const from = new Date(Date.now() - 86_400_000).toISOString();
      const paths = [
        "/v1/events?q=item&limit=100&include=total,severity",
        "/v1/events?q=nothing%20of%20the%20kind&limit=100",
        "/v1/events?delivery=pending&limit=100&include=total",
        "/v1/events?page=100&limit=100",
        "/v1/notifications?limit=100&include=total",
        "/v1/rejections?limit=100",
        "/v1/issues",
        "/v1/destinations?include=health",
        `/v1/statistics/deliveries?from=${from}&step=900`,
        "/v1/statistics/health",
      ];
      await flood(400, 8, (n) =>
        n % 8 === 0
          ? send("POST", "/v1/replays/preview", { from, q: "item" })
          : send("GET", paths[n % paths.length] ?? "/"),
      );
    },
  },
  {
    name: "streams-opened",
    about: "3,000 feeds and subscriptions opened and closed",
    who: "operator",
    ...growing,
    run: (_, victim) =>
      expectNoGrowth(victim, async (n) => {
        const authorization = `Bearer ${victim.bearers.operator}`;
        const query = "subscription { seatsChanged(flightId: 1) { seatsAvailable } }";
        const accept = "text/event-stream";
        const opened =
          n % 2 === 0
            ? victim.fetch("/graphql", post(JSON.stringify({ query }), { authorization, accept }))
            : victim.fetch(n % 4 === 1 ? "/v1/feed" : "/v1/events/feed", {
                headers: { authorization },
              });
        await (await opened).body?.cancel();
      }),
  },
];

export const signedInAttacks: readonly Attack[] = table.map((attack) => ({
  ...attack,
  about: `as ${attack.who}: ${attack.about}`,
  run: (victim) => attack.run(sendAs(victim, victim.bearers[attack.who]), victim),
}));
