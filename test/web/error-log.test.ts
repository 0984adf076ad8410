import { expect, test } from "bun:test";
import { rmSync } from "node:fs";

import pino from "pino";

import { AppError } from "../../src/base/errors.ts";
import { at } from "../../src/base/payload.ts";
import { errorLog } from "../../src/web/error-log.ts";
import { until } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { authorization, databaseIn } from "../support/load.ts";
import { resources } from "../support/resources.ts";

const taken = resources();

const outage = (why: string) =>
  new AppError("unavailable", "The database cannot be used", { cause: new Error(why) });

function logged() {
  const clock = manualClock();
  const lines: unknown[] = [];
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { clock, lines, log: errorLog(pino({ base: null }, sink), clock) };
}

test("logs an outage once every ten seconds, with its cause and the number of equal errors", () => {
  const { clock, lines, log } = logged();
  for (const id of ["req_1", "req_2", "req_3", "req_4"]) log(outage("the disk is full"), id);
  log(outage("the disk is gone"), "req_5");
  clock.advance(9_999);
  expect(lines).toHaveLength(2);
  clock.advance(1);
  log(outage("the disk is full"), "req_6");
  clock.advance(10_000);
  // The outage is over. The next error starts a new one.
  clock.advance(60_000);
  log(outage("the disk is full"), "req_7");
  clock.advance(60_000);
  const entries = lines.map((line) => [at(line, "requestId"), at(line, "alike"), at(line, "msg")]);
  const [full, gone] = ["full", "gone"].map(
    (how) => `unavailable: The database cannot be used: the disk is ${how}`,
  );
  expect(entries).toEqual([
    ["req_1", undefined, full],
    ["req_5", undefined, gone],
    ["req_4", 2, full],
    ["req_6", undefined, full],
    ["req_7", undefined, full],
  ]);
});

test("logs an unavailable service without a cause as a warning", () => {
  const { lines, log } = logged();
  log(new AppError("unavailable", "The service is starting"), "req_1");
  log(new AppError("internal", "Something went wrong", { cause: new Error("a bug") }), "req_2");
  log(new AppError("internal", "The reference is taken"), "req_3");
  expect(lines.map((line) => at(line, "level"))).toEqual([40, 50, 50]);
});

test("bounds the number of log entries for many kinds of outage", () => {
  const { clock, lines, log } = logged();
  for (let round = 0; round < 3; round += 1) {
    for (let kind = 0; kind < 1_000; kind += 1) log(outage(`key ${kind} is lost`), null);
  }
  expect(lines).toHaveLength(101);
  clock.advance(10_000);
  expect(lines).toHaveLength(202);
  expect(at(lines.at(-1), "alike")).toBe(2_698);
});

test("logs every internal error", () => {
  const { lines, log } = logged();
  const error = new AppError("internal", "Something went wrong", { cause: new Error("oh") });
  log(error, "req_1");
  log(error, "req_2");
  expect(lines.map((line) => at(line, "requestId"))).toEqual(["req_1", "req_2"]);
});

test("shares one log entry for an outage between REST and GraphQL", async () => {
  const folder = taken.newFolder();
  const server = await taken.start(folder);
  rmSync(databaseIn(folder));
  const headers = {
    authorization: await authorization("admin"),
    "content-type": "application/json",
  };
  const make = (n: number) =>
    `m${n}: createUser(input: {name: "A", email: "a${n}@example.com"}) { id }`;
  const query = `mutation { ${[1, 2, 3].map(make).join(" ")} }`;
  for (const path of ["/graphql", "/graphql", "/v1/users"]) {
    const body = JSON.stringify(
      path === "/graphql" ? { query } : { name: "A", email: "a@example.com" },
    );
    const response = await fetch(server.url + path, { method: "POST", headers, body });
    expect(await response.text()).toContain("unavailable");
  }
  const entries = () =>
    server
      .log()
      .split("\n")
      .filter((line) => line.includes('"requestId"') && line.includes("was removed or replaced"));
  await until(() => entries().length > 0);
  await server.stop();
  // On a slow machine the requests take over ten seconds, which adds a second entry.
  expect(entries().length).toBeLessThan(3);
});
