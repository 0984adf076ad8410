import fc from "fast-check";

import { type Model, pick } from "../model.ts";
import {
  dayMs,
  failureWindowMs,
  hourMs,
  keyKeptMs,
  minuteMs,
  saleEndsMs,
  tokenSkewMs,
} from "../rules.ts";
import { count, type Server } from "../server.ts";

import { anyOne, command } from "./command.ts";

/** Before anything is old enough to be deleted: the first is a body, after 30 days. */
const lastMs = Date.UTC(2026, 10, 21, 9) + 29 * dayMs;

function moveTo(server: Server, timeMs: number): void {
  const target = Math.min(timeMs, lastMs);
  if (target > server.clock.now()) server.clock.advance(target - server.clock.now());
}

export const wait = fc
  .constantFrom(1, 999, 30_000, minuteMs, 10 * minuteMs, hourMs, 6 * hourMs)
  .map((ms) =>
    command("Wait", { ms }, async (_, server) => {
      moveTo(server, server.clock.now() + ms);
    }),
  );

/** Every moment to come at which something changes, the nearest first. */
function turningPoints({ flights, bookings, keys, keptTokens, failures }: Model, nowMs: number) {
  const points = [
    ...flights.flatMap(({ departureMs }) =>
      [0, saleEndsMs, 24 * hourMs, 72 * hourMs, 7 * dayMs].map((before) => departureMs - before),
    ),
    ...bookings.map(({ createdMs }) => createdMs + 24 * hourMs),
    ...keys.map(({ atMs }) => atMs + keyKeptMs),
    ...[...keptTokens.values()].map(({ expiresMs }) => expiresMs + tokenSkewMs),
    ...[...failures.values()].map(({ sinceMs }) => sinceMs + failureWindowMs),
  ];
  return [...new Set(points)].filter((ms) => ms > nowMs + 1).toSorted((one, other) => one - other);
}

/** To the millisecond before such a moment, to it, or just after. */
export const waitUntil = fc
  .record({ which: fc.nat(5), offset: fc.constantFrom(-1, 0, 1) })
  .map((args) =>
    command("WaitUntil", args, async (model, server) => {
      const points = turningPoints(model, server.clock.now()).slice(0, 6);
      moveTo(server, (pick(points, args.which) ?? 0) + args.offset);
    }),
  );

/** Someone signs in, and uses the token for as long as it is taken, or longer. */
export const keepToken = fc
  .record({ who: anyOne, ttlSeconds: fc.constantFrom(60, 3_600, 3 * 86_400) })
  .map((args) =>
    command("KeepToken", args, async (model, server) => {
      const userId = pick(model.users, args.who)?.id ?? "nobody";
      const token = await server.mint(userId, "user", args.ttlSeconds);
      const seconds = Math.floor(server.clock.now() / 1_000) + args.ttlSeconds;
      model.keptTokens.set(userId, { token, expiresMs: seconds * 1_000 });
    }),
  );

/** What was in memory alone is gone: the limiter forgets. Nothing else does. */
export const restart = fc.constant(
  command("Restart", {}, async (model, server) => {
    await server.restart();
    model.failures.clear();
    count(server, "restart");
  }),
);
