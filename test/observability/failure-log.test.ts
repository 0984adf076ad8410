import { expect, test } from "bun:test";
import { rmSync } from "node:fs";

import pino from "pino";

import { AppError } from "../../src/errors.ts";
import { failureLog } from "../../src/http/failure-log.ts";
import { at } from "../../src/webhooks/payload.ts";
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
  return { clock, lines, log: failureLog(pino({ base: null }, sink), clock) };
}

test("an outage has one line every ten seconds, with its cause and how many are like it", () => {
  const { clock, lines, log } = logged();
  for (const id of ["req_1", "req_2", "req_3"]) log(outage("the disk is full"), id);
  log(outage("the disk is gone"), "req_4");
  clock.advance(10_000);
  log(outage("the disk is full"), "req_5");
  clock.advance(10_000);
  log(outage("the disk is full"), "req_6");
  expect(lines).toMatchObject([
    { msg: "unavailable: The database cannot be used: the disk is full", requestId: "req_1" },
    { msg: "unavailable: The database cannot be used: the disk is gone", requestId: "req_4" },
    { msg: "unavailable: The database cannot be used: the disk is full", requestId: "req_5" },
    { msg: "unavailable: The database cannot be used: the disk is full", requestId: "req_6" },
  ]);
  expect(lines.map((line) => at(line, "alike"))).toEqual([undefined, undefined, 2, undefined]);
});

test("what is a fault of ours has a line each time", () => {
  const { lines, log } = logged();
  const fault = new AppError("internal", "Something went wrong", { cause: new Error("oh") });
  log(fault, "req_1");
  log(fault, "req_2");
  expect(lines.map((line) => at(line, "requestId"))).toEqual(["req_1", "req_2"]);
});

test("an outage has that one line by whichever way it is met", async () => {
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
  const told = () =>
    server
      .log()
      .split("\n")
      .filter((line) => line.includes('"requestId"') && line.includes("was removed or replaced"));
  await until(() => told().length > 0);
  await server.stop();
  expect(told()).toHaveLength(1);
}, 30_000);
