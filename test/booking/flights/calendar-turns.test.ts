import { expect, test } from "bun:test";

import { AppError } from "../../../src/base/errors.ts";
import { calendars } from "../../../src/booking/flights/flight-calendar.ts";
import type { EqualDays } from "../../../src/booking/flights/flight-searches.sql.ts";
import type { Storage } from "../../../src/db/storage.ts";

const journey = { origin: "JFK", destination: "LHR", passengers: 1, cabinClass: null };
const leavesAfter = new Date("2026-11-01T00:00:00Z");
const first = Temporal.PlainDate.from("2026-12-01");
const dates = (days: number) =>
  Array.from({ length: days }, (_, day) => first.add({ days: day }).toString());

/** Reads that wait until they are answered, without flights, in the order in which they were made. */
function waitingReads() {
  const waiting: { days: number; answer: () => void }[] = [];
  const storage: Pick<Storage, "all"> = {
    all<Values extends object, Row>(_: unknown, values: Values, pace?: string) {
      expect(pace).toBe("long");
      const { days }: { days?: readonly EqualDays[] } = values;
      const [start, end] = [days?.at(0)?.starts, days?.at(-1)?.ends];
      const length = (Number(end) - Number(start)) / 86_400_000;
      const { promise, resolve } = Promise.withResolvers<Row[]>();
      waiting.push({ days: length, answer: () => resolve([]) });
      return promise;
    },
  };
  return { waiting, storage };
}

test("a calendar of a week waits for one part of a long one, not for all of it [API4-25]", async () => {
  const { waiting, storage } = waitingReads();
  const calendarOf = calendars(storage);
  const long = calendarOf(journey, dates(62), leavesAfter);
  const short = calendarOf(journey, dates(7), leavesAfter);
  expect(waiting.map(({ days }) => days)).toEqual([7, 7]);
  waiting.shift()?.answer();
  waiting.shift()?.answer();
  expect((await short).days).toHaveLength(7);
  const parts: number[] = [];
  for (let read = waiting.shift(); read !== undefined; read = waiting.shift()) {
    parts.push(read.days);
    read.answer();
    await Promise.resolve().then(() => new Promise((resolve) => setImmediate(resolve)));
  }
  expect(parts).toEqual([7, 7, 7, 7, 7, 7, 7, 6]);
  expect((await long).days.map(({ date }) => date)).toEqual(dates(62));
});

test("of too many calendars at once, the last are refused, until one has ended", async () => {
  const { waiting, storage } = waitingReads();
  const calendarOf = calendars(storage);
  const begun = Array.from({ length: 32 }, () => calendarOf(journey, dates(1), leavesAfter));
  const oneMore = calendarOf(journey, dates(1), leavesAfter).catch((error: unknown) => error);
  const refused = await Promise.race([oneMore, Bun.sleep(0)]);
  expect(refused).toBeInstanceOf(AppError);
  expect(refused).toMatchObject({ code: "unavailable", extras: { retryAfterSeconds: 2 } });
  waiting.shift()?.answer();
  await Promise.race(begun);
  begun.push(calendarOf(journey, dates(1), leavesAfter));
  for (const { answer } of waiting) answer();
  expect(await Promise.all(begun)).toHaveLength(33);
});
