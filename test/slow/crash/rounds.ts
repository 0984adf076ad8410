import { deepEqual, equal, ok } from "node:assert/strict";

import { until } from "../../support/app.ts";
import type { CrashPoint } from "../harness/crash-point.ts";
import type { DatabaseKind } from "../harness/databases.ts";
import { asAdminAt, notificationsOfFleet } from "../harness/fleet.ts";
import type { World } from "../harness/world.ts";

import type { Ledger } from "./ledger.ts";

/** A way to die under load. */
export interface Death {
  readonly name: string;
  /** Null: SIGKILL from outside, at any time. */
  readonly point: Omit<CrashPoint, "nth"> | null;
}

const transactions: readonly (readonly [string, string])[] = [
  ["a delivery", `insert into "events"`],
  ["a booking", `insert into "bookings"`],
  ["a change of seats", `update "flights"`],
  ["a payment", `insert into "payments"`],
  ["a cancellation", `update "bookings"`],
  ["a claim of notifications", `update "deliveries" set "leased_until"`],
  ["an attempt to notify", `update "deliveries" set "status"`],
];
const moments = ["after statement", "before commit", "during commit", "after commit"] as const;

export const outside: Death = { name: "from outside", point: null };

/** All deaths from inside. */
export function pointsOn({ isServer }: DatabaseKind): readonly Death[] {
  const possible = moments.filter((moment) => isServer || moment !== "during commit");
  return transactions.flatMap(([what, sql]) =>
    possible.map((moment) => {
      const when = moment === "after statement" ? "in the middle of" : moment.replace(" ", " the ");
      const name = moment === "after statement" ? `${when} ${what}` : `${when} of ${what}`;
      return { name, point: { moment, sql } };
    }),
  );
}

/** Deaths at these points, with one from outside before every fourth. */
export const withOutside = (points: readonly Death[]): readonly Death[] =>
  points.flatMap((point, index) => (index % 4 === 0 ? [outside, point] : [point]));

/** Maximum number of acknowledgements in one round; fewer if each goes to many destinations. */
const mostAcknowledged = 300;
const mostAcknowledgedOfFleet = 30;
/** Maximum number of transactions of a kind in one round. */
const mostTransactions = 20;
/** A margin for busy machines. */
const patienceMs = 60_000;

export interface Round {
  readonly acknowledged: number;
  readonly unanswered: number;
  /** The unanswered requests that were in the database. */
  readonly carriedOut: number;
}

/**
 * Repeats the unanswered requests of the previous round, loads the program until it dies, and compares the
 * database with the responses. Throws on any difference.
 */
export async function playRound(world: World, ledger: Ledger, death: Death): Promise<Round> {
  try {
    return await roundOf(world, ledger, death);
  } catch (cause) {
    throw new Error(`Killed ${death.name}: ${Bun.inspect(cause)}`, { cause });
  }
}

async function roundOf(world: World, ledger: Ledger, { point }: Death): Promise<Round> {
  const server = await world.running();
  await ledger.retry(server);
  await world.fleet?.disturb(asAdminAt(server.url));
  const before = ledger.acknowledged;
  if (point !== null) {
    world.crashAt({ ...point, nth: Math.ceil(Math.random() * mostTransactions) });
    await Promise.all([ledger.load(server), world.crashed()]);
  } else {
    // At the gateway when the process dies, so it has to be sent again.
    const held = world.holdNextNotification();
    const most = world.fleet === null ? mostAcknowledged : mostAcknowledgedOfFleet;
    const enough = before + Math.ceil(Math.random() * most);
    const kill = async () => {
      await Promise.all([held, until(() => ledger.acknowledged >= enough, patienceMs)]);
      await world.kill();
    };
    await Promise.all([ledger.load(server), kill()]);
  }
  const { acknowledged, unanswered } = ledger;
  const carriedOut = await ledger.compare(world);
  return { acknowledged: acknowledged - before, unanswered, carriedOut };
}

/**
 * Repeats the unanswered requests, and waits for the gateway. Throws unless everything is stored once, and
 * the gateway was notified of each event at least once, under one id. Returns the number of events that it
 * was notified of more than once.
 */
export async function endRounds(world: World, ledger: Ledger): Promise<number> {
  await ledger.retry(await world.running());
  await world.settled();
  await world.stop();
  await ledger.compare(world);
  const notifications = await world.left(
    `select e.idempotency_key as key, id_of('ntf', n.position, e.tail) as id,
       (select count(*) from deliveries d where d.event = n.event and d.notification = n.position
         and d.owner_id is null and d.status <> 'delivered') as undelivered
     from notifications n join events e on e.position = n.event`,
  );
  const notified = world.notified();
  for (const { key, id, undelivered } of notifications) {
    equal(Number(undelivered), 0, `the deliveries of the notification of ${String(key)}`);
    deepEqual([...new Set(notified.get(String(key)))], [id], `the notifications of ${String(key)}`);
  }
  equal(
    notified.size,
    notifications.length,
    "The gateway was notified of an event that does not exist",
  );
  world.fleet?.check(await world.left(notificationsOfFleet), ledger.times);
  const again = [...notified.values()].filter((ids) => ids.length > 1);
  for (const id of world.held) {
    ok(
      again.some(([first]) => first === id),
      `${id} was not answered, and was not sent again`,
    );
  }
  return again.length;
}
