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
import type { Server } from "../server.ts";

import { anyOne, command } from "./command.ts";

/** Less than the shortest retention: bodies are deleted after 30 days. */
const lastMs = Date.UTC(2026, 10, 21, 9) + 29 * dayMs;

function moveTo(server: Server, timeMs: number): void {
  const target = Math.min(timeMs, lastMs);
  if (target > server.clock.now()) server.clock.advance(target - server.clock.now());
}

export const wait = command(
  "Wait",
  fc.record({ ms: fc.constantFrom(1, 999, 30_000, minuteMs, 10 * minuteMs, hourMs, 6 * hourMs) }),
  async ({ ms }, _, server) => {
    moveTo(server, server.clock.now() + ms);
  },
);

/** Future times at which something changes, nearest first. */
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

/** Advances to such a time, or to one millisecond before or after it. */
export const waitUntil = command(
  "WaitUntil",
  fc.record({ which: fc.nat(5), offset: fc.constantFrom(-1, 0, 1) }),
  async (args, model, server) => {
    const points = turningPoints(model, server.clock.now()).slice(0, 6);
    moveTo(server, (pick(points, args.which) ?? 0) + args.offset);
  },
);

/** Signs in, and uses the token until it expires or longer. */
export const keepToken = command(
  "KeepToken",
  fc.record({ who: anyOne, ttlSeconds: fc.constantFrom(60, 3_600, 3 * 86_400) }),
  async (args, model, server) => {
    const userId = pick(model.users, args.who)?.id ?? "nobody";
    const token = await server.mint(userId, "user", args.ttlSeconds);
    const seconds = Math.floor(server.clock.now() / 1_000) + args.ttlSeconds;
    model.keptTokens.set(userId, { token, expiresMs: seconds * 1_000 });
  },
);

/** A restart loses only data in memory, which is the limiter's. */
export const restart = command("Restart", fc.constant({}), async (_, model, server) => {
  await server.restart();
  model.failures.clear();
  server.count("restart");
});
