import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../../support/databases.ts";
import { bookingBody, post } from "../../../support/flights.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../../support/program.ts";
import { randomNumbers } from "../../../support/random.ts";
import { runs } from "../../../support/runs.ts";
import { skips } from "../../../support/skips.ts";

import { missingSeats, refereeOf } from "./referee.ts";

const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

/** By night, five times as many. */
const users = runs(500);
const seats = runs(40);
const workers = 24;
const actions = runs(4_000);
/** A margin for busy machines. */
const patienceMs = 120_000;
/** An offer and a hold last a minute. */
const minutes = { HOLD_MINUTES: "1", WAITLIST_OFFER_MINUTES: "1" };
const jwtSecret = "a key of the rivals, of 32 bytes";
const preload = join(import.meta.dir, "../../../support/moved-clock-preload.ts");

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
function tokenOf(sub: string): string {
  const iat = Math.floor(Date.now() / 1_000);
  const fields = { iss: "skyhook", aud: "skyhook", sub, jti: sub, iat, exp: iat + 36_000 };
  const text = `${base64url({ alg: "HS256", typ: "at+jwt" })}.${base64url({ ...fields, roles: ["user"] })}`;
  return `${text}.${createHmac("sha256", jwtSecret).update(text).digest("base64url")}`;
}

type Rows = readonly Record<string, unknown>[];
interface House {
  readonly url: string | null;
  run(sql: string): Promise<Rows>;
  close(): Promise<void>;
}

const houses = [
  {
    name: "one instance on SQLite",
    dialect: "sqlite",
    instances: 1,
    async open(folder: string): Promise<House> {
      let database: Database | null = null;
      return {
        url: null,
        async run(sql) {
          database ??= new Database(join(folder, "data/skyhook.db"), { readwrite: true });
          database.run("pragma busy_timeout = 5000");
          return database.query<Record<string, unknown>, []>(sql).all();
        },
        async close() {
          database?.close();
        },
      };
    },
  },
  {
    name: "two instances on PostgreSQL",
    dialect: "postgres",
    instances: 2,
    async open(): Promise<House> {
      const database = await postgresDatabase();
      return {
        url: database.url,
        run: (sql) => database.run(sql),
        close: async () => database[Symbol.asyncDispose](),
      };
    },
  },
] as const;

describe(`${users} rivals on the waiting list of one flight`, () => {
  const possible = houses.filter(({ instances }) => instances === 1 || !skips(noManyConnections));
  test.each(possible)(
    "never jump the line, and get what comes free once: $name",
    async ({ dialect, instances, ...place }) => {
      const folder = temporaryFolder();
      folders.push(folder);
      const house = await place.open(folder);
      const clockFile = join(folder, "ahead");
      let aheadMs = 0;
      const advance = (ms: number) => writeFileSync(clockFile, String((aheadMs += ms)));
      advance(0);
      const env: Record<string, string> = {
        ...minutes,
        LOG_LEVEL: "info",
        JWT_SECRET: jwtSecret,
        CLOCK_AHEAD_FILE: clockFile,
        ...(house.url !== null && { DATABASE_URL: house.url }),
      };
      const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
      const input = `flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency
SK1,Skyhook Air,JFK,LHR,${at(30)},${at(30.3)},economy,${seats},100.00,USD
`;
      await runSkyhook(["import", "-"], { cwd: folder, env, input });
      for (const statement of refereeOf[dialect]) await house.run(statement);
      const start = () => startServer({ cwd: folder, env, preload });
      const servers: RunningServer[] = [];
      while (servers.length < instances) servers.push(await start());

      const random = randomNumbers(7);
      const below = (limit: number) => Math.floor(random() * limit);
      const counts: Record<string, number> = {};
      const tokens = Array.from({ length: users }, (_, user) => tokenOf(`rival-${user}`));
      /** Null if the server is dead. */
      async function ask(user: number, path: string, init: RequestInit = {}) {
        const headers = new Headers(init.headers);
        headers.set("authorization", `Bearer ${tokens[user]}`);
        const { url = "" } = servers[below(servers.length)] ?? {};
        const answer = await fetch(`${url}/v1/api/${path}`, { ...init, headers }).catch(() => null);
        if (answer === null) return null;
        const kind = `${init.method ?? "GET"} ${path.split("/")[0]?.split("?")[0]} ${answer.status}`;
        counts[kind] = (counts[kind] ?? 0) + 1;
        const body: Readonly<Record<string, unknown>> = Object(
          await answer.json().catch(() => null),
        );
        return body;
      }
      const remove = { method: "DELETE" };

      const inLine: number[] = [];
      const sold: (readonly [user: number, booking: string])[] = [];
      async function book(user: number, count: number): Promise<void> {
        const body = { ...bookingBody(1, count), ...(below(3) === 0 && { hold: true }) };
        const made = await ask(user, "bookings", post(body));
        const id = made?.["bookingId"];
        if (typeof id === "string") sold.push([user, id]);
      }
      async function wait(user: number): Promise<void> {
        const joined = await ask(user, "waitlist", post({ flightId: 1, seats: 1 + below(3) }));
        if (joined?.["entryId"] !== undefined) inLine.push(user);
      }
      /** What a user does next depends on what it has. Meanwhile, somebody cancels. */
      async function act(user: number): Promise<void> {
        const [owner, booking] = (below(4) === 0 && sold.splice(below(sold.length), 1)[0]) || [];
        if (owner !== undefined) return void (await ask(owner, `bookings/${booking}`, remove));
        const list = await ask(user, "waitlist?limit=1");
        const {
          status,
          seats: wanted,
          id,
        }: Record<string, unknown> = Object(Array.isArray(list?.["data"]) ? list["data"][0] : null);
        const isOpen = status === "waiting" || status === "offered";
        if (!isOpen && inLine.includes(user)) inLine.splice(inLine.indexOf(user), 1);
        const leave = () => ask(user, `waitlist/${String(id)}`, remove);
        if (status === "offered") {
          const what = below(4);
          if (what === 0) await leave();
          else if (what < 3) await book(user, Number(wanted) + below(3) - 1 || 1);
        } else if (status === "waiting" && below(10) === 0) await leave();
        else if (below(4) === 0) await book(user, 1 + below(2));
        else await wait(user);
      }

      for (let user = 0; user < seats; user += 1) await book(user, 1);
      for (let user = seats; user < 2 * seats; user += 1) await wait(user);

      let done = 0;
      let missing: unknown = null;
      let samples = 0;
      const worker = async () => {
        while (done < actions) {
          done += 1;
          // Those at the head of the line look more often than others.
          const first = inLine.slice(0, 2 * seats);
          await act(below(3) > 0 ? (first[below(first.length)] ?? 0) : below(users));
        }
      };
      const watch = async () => {
        while (done < actions) {
          const [row] = await house.run(missingSeats);
          if (Number(row?.["missing"]) !== 0) missing ??= row;
          samples += 1;
          advance(1_500);
          await Bun.sleep(100);
        }
      };
      const killer = async () => {
        await until(() => done > actions / 2, patienceMs);
        await servers[0]?.kill();
        servers[0] = await start();
      };
      await Promise.all([...Array.from({ length: workers }, worker), watch(), killer()]);

      // All offers and holds end, so the seats go from one to the next until nobody waits for them.
      await until(async () => {
        advance(61_000);
        await Bun.sleep(50);
        const [row] = await house.run(missingSeats);
        if (Number(row?.["missing"]) !== 0) missing ??= row;
        const [fits] = await house.run(
          "select count(*) as count from waitlist_entries w, flights f where w.status = 'offered' or w.status = 'waiting' and w.seats <= f.seats_available",
        );
        return Number(fits?.["count"]) === 0;
      }, patienceMs);
      expect(missing).toBeNull();
      expect(await house.run("select what from jumps")).toEqual([]);
      expect(Object.keys(counts).filter((kind) => / 5\d\d$/.test(kind))).toEqual([]);
      // Each offer, and each end of one, has its event and notification once.
      const events = await house.run(
        "select w.id, w.status, (select count(*) from events e join notifications n on n.event_id = e.id where e.subject = 'waitlist/' || w.id and e.type = 'waitlist.offered') as offered, (select count(*) from events e join notifications n on n.event_id = e.id where e.subject = 'waitlist/' || w.id and e.type = 'waitlist.expired') as expired, w.offered_at from waitlist_entries w",
      );
      const wrong = events.filter(
        ({ status, offered, expired, offered_at: at }) =>
          Number(offered) !== (at === null ? 0 : 1) ||
          Number(expired) !== (status === "expired" ? 1 : 0),
      );
      expect(wrong).toEqual([]);
      const offers = events.filter(({ offered }) => Number(offered) === 1).length;
      expect(offers).toBeGreaterThan(runs(50));
      expect(samples).toBeGreaterThan(10);
      await Promise.all(servers.map((each) => each.stop()));
      await house.close();
    },
    2 * patienceMs,
  );
});
