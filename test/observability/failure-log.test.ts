import { expect, test } from "bun:test";

import pino from "pino";

import { AppError } from "../../src/errors.ts";
import { failureLog } from "../../src/http/failure-log.ts";
import { at } from "../../src/webhooks/payload.ts";
import { manualClock } from "../support/clock.ts";

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
