import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { administrator, tokenSettings } from "../../bench/api-requests.ts";
import {
  ceiling,
  delivery,
  fastifySqlite,
  minimal,
  skyhookEnvironment,
} from "../../bench/contestants.ts";
import { signedDeliveries } from "../../bench/deliveries.ts";
import { startReceiver } from "../../bench/delivery.ts";
import { commitMs } from "../../bench/disk.ts";
import { withFolder } from "../../bench/folder.ts";
import { type Server, startServer } from "../../bench/processes.ts";
import { fill } from "../../bench/rows.ts";
import { RawClient } from "../support/raw-client.ts";
import { skips } from "../support/skips.ts";

const bench = join(import.meta.dir, "../../bench");
const file = (name: string) => join(bench, "servers", name);
const hasPeers = existsSync(join(bench, "peers/node_modules/better-sqlite3"));
const noPeers = hasPeers ? null : "bench/peers is not installed: run `npm ci` there";

const get = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${headers}\r\n`;
const webhook = () => Buffer.from(signedDeliveries(delivery, 1).request(0)).toString("latin1");
const signedIn = async (path: string) => get(path, `Authorization: ${await administrator()}\r\n`);
const program = { PROGRAM: join(bench, ".."), CLOCK_SPEED: "1", JWT_SECRET: tokenSettings.key };

/** Of each server: how the benchmark starts it, a first request, and the beginning of the answer. */
interface Case {
  readonly start: (folder: string) => Promise<Server>;
  readonly request: () => string | Promise<string>;
  readonly answer: RegExp;
}

const filled = (folder: string): string => {
  const database = join(folder, "skyhook.db");
  fill(database, [
    { table: "flights", rows: 1, stepMs: 1_000 },
    { table: "events", rows: 1, stepMs: 1_000 },
    { table: "bookings", rows: 1, stepMs: 1_000 },
  ]);
  return database;
};
const skyhook = (name: string) => (folder: string) => {
  filled(folder);
  return startServer(["bun", file(name)], { ...skyhookEnvironment(folder), ...program });
};
const peer = (name: string) => (folder: string) =>
  startServer(["node", file(name)], {
    DATABASE: filled(folder),
    JWT_SECRET: tokenSettings.key,
    JWT_ISSUER: tokenSettings.issuer,
    JWT_AUDIENCE: tokenSettings.audience,
  });
const worker = () =>
  startServer(["bun", file("worker.mjs")], {
    KIND: "bullmq",
    DATABASE: process.env["TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379",
    JOBS: "0",
    CONCURRENCY: "1",
  });

const ok = /^HTTP\/1\.1 200 /;
const servers: Readonly<Record<string, Case>> = {
  "ceiling.ts": {
    start: ceiling.start,
    request: webhook,
    answer: /^HTTP\/1\.1 200 [^]*\r\n\r\nok/,
  },
  "hello.ts": {
    start: () => startServer(["bun", file("hello.ts")], {}),
    request: () => get("/"),
    answer: ok,
  },
  "promise.ts": { start: minimal.start, request: webhook, answer: /"status":"accepted"/ },
  "receiver.ts": { start: startReceiver, request: () => get("/latencies"), answer: /"received":0/ },
  "retaining.ts": { start: skyhook("retaining.ts"), request: webhook, answer: /"accepted"/ },
  "soak.ts": { start: skyhook("soak.ts"), request: webhook, answer: /"accepted"/ },
  "fastify-sqlite.mjs": { start: fastifySqlite.start, request: webhook, answer: /"accepted"/ },
  "fastify-bookings.mjs": {
    start: peer("fastify-bookings.mjs"),
    request: () => get("/v1/api/bookings"),
    answer: /^HTTP\/1\.1 40[14] /,
  },
  "mercurius.mjs": {
    start: peer("mercurius.mjs"),
    request: () => signedIn("/graphql?query={bookings{nodes{bookingId}}}"),
    answer: /"bookingId":"bk_/,
  },
  "worker.mjs": { start: worker, request: () => get("/"), answer: ok },
};

const cases = Object.entries(servers);
const ofPeers = (name: string) => name.endsWith(".mjs");

const starts = (name: string, { start, request, answer }: Case) =>
  withFolder("servers", async (folder) => {
    const server = await start(folder);
    try {
      using client = await RawClient.connect(`http://127.0.0.1:${server.port}`);
      await client.send(await request());
      expect(await client.answer(), name).toMatch(answer);
    } finally {
      await server.stop();
    }
  });

test.each(cases.filter(([name]) => !ofPeers(name)))("%s starts and answers", starts);
test.skipIf(skips(noPeers)).each(cases.filter(([name]) => ofPeers(name)))(
  "%s starts and answers",
  starts,
);

test("commits.ts measures commits", async () => {
  expect(await withFolder("servers", (folder) => commitMs(folder, {}))).toBeGreaterThan(0);
});

test("every server of the benchmark is listed here", () => {
  const scripts = readdirSync(join(bench, "servers")).filter((name) => !name.endsWith(".sql"));
  expect([...Object.keys(servers), "commits.ts"].toSorted()).toEqual(scripts.toSorted());
});
