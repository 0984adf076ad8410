import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import {
  type ImportedLine,
  type ImportFormat,
  readFlightPlans,
} from "../../../../src/booking/flights/import/flight-plans.ts";
import { failure } from "../../../support/failure.ts";
import { forAllAsync } from "../../../support/runs.ts";

const header =
  "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency";
const row = {
  flightNumber: "N4101",
  airline: "Northlight Airways",
  origin: "JFK",
  destination: "LHR",
  departureTime: "2026-12-01T18:25:00-05:00",
  arrivalTime: "2026-12-02T06:30:00Z",
  cabinClass: "economy",
  seats: "216",
  price: "412.50",
  currency: "USD",
};
const plan = {
  flightNumber: "N4101",
  airline: "Northlight Airways",
  origin: "JFK",
  destination: "LHR",
  departureTime: new Date("2026-12-01T23:25:00Z"),
  arrivalTime: new Date("2026-12-02T06:30:00Z"),
  cabinClass: "economy",
  seats: 216,
  priceMinor: 41_250,
  currency: "USD",
} as const;

const csvLine = (changes: Partial<typeof row> = {}) => Object.values({ ...row, ...changes }).join();
const csv = (...lines: readonly string[]) => [header, ...lines, ""].join("\n");
const json = (changes: Record<string, unknown> = {}) => JSON.stringify({ ...row, ...changes });

function streamOf(bytes: Uint8Array, chunkBytes = bytes.length): ReadableStream<Uint8Array> {
  let start = 0;
  return new ReadableStream({
    pull(controller) {
      if (start >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(start, start + chunkBytes));
      start += chunkBytes;
    },
  });
}

function read(input: string | Uint8Array, format: ImportFormat = "csv"): Promise<ImportedLine[]> {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  return Array.fromAsync(readFlightPlans(streamOf(bytes), format));
}

/** Each line as `2: plan` or `2: <error>`. */
async function summary(input: string | Uint8Array, format: ImportFormat = "csv") {
  const lines = await read(input, format);
  return lines.map((found) => `${found.line}: ${"plan" in found ? "plan" : found.error}`);
}

describe("a flight that changes", () => {
  const before = "2026-12-01T16:25:00-05:00";
  const moved = { previousDepartureTime: new Date("2026-12-01T21:25:00Z") };
  test.each<[previous: unknown, status: unknown, expected: object | string]>([
    ["", "", {}],
    [before, "", moved],
    [` ${before} `, "Scheduled", moved],
    [row.departureTime, "", {}],
    ["", "cancelled", { isCancelled: true }],
    [row.departureTime, "cancelled", { isCancelled: true }],
    [before, "cancelled", "status must not be cancelled for a flight that is moved"],
    ["", "gone", "status must be one of: scheduled, cancelled"],
    [
      "yesterday",
      "",
      "previousDepartureTime must be a time that exists, written like 2026-12-01T18:25:00-05:00",
    ],
    [
      "2026-12-01T16:25:00",
      "",
      "previousDepartureTime has no UTC offset: append Z or an offset such as -05:00",
    ],
  ])("with previousDepartureTime %p and status %p", async (previous, status, expected) => {
    const line = { line: 1 };
    const isError = typeof expected === "string";
    const found = isError ? { ...line, error: expected } : { ...line, plan, ...expected };
    const given = { previousDepartureTime: previous, status };
    expect(await read(json(given), "ndjson")).toEqual([found]);
    const cells = `${csvLine()},${String(previous)},${String(status)}`;
    const text = [`${header},previousDepartureTime,status`, cells].join("\n");
    expect(await read(text)).toEqual([{ ...found, line: 2 }]);
  });

  test("may lack one of the keys, which may be null in NDJSON", async () => {
    expect(await summary(json({ status: null, previousDepartureTime: null }), "ndjson")).toEqual([
      "1: plan",
    ]);
    expect(await read([`status,${header}`, `cancelled,${csvLine()}`].join("\n"))).toMatchObject([
      { plan, isCancelled: true },
    ]);
  });
});

describe("CSV", () => {
  test("yields plans with their line number", async () => {
    const exported = { departureTime: "2026-12-01 18:25:00-05", arrivalTime: "20261202T0630Z" };
    const other = { flightNumber: "ba 117", cabinClass: "First", ...exported };
    const text = csv(csvLine(), csvLine(other));
    expect(await read(text)).toEqual([
      { line: 2, plan },
      { line: 3, plan: { ...plan, flightNumber: "BA117", cabinClass: "first" } },
    ]);
  });

  test("may have columns in any order, with spaces around their names", async () => {
    const columns = Object.entries(row).toReversed();
    const text = `${columns.map(([key]) => ` ${key}`).join()}\n${columns.map(([, value]) => value).join()}`;
    expect(await read(text)).toMatchObject([{ line: 2, plan }]);
  });

  test("may have CRLF, BOM, quotes, blank lines and no last line break", async () => {
    const quoted = csvLine({ airline: '"Halcyon, ""Gulf"" & Ürümqi"', price: '"412.5"' });
    const found = await read(`\ufeff${header}\r\n\r\n${quoted}\r\n   \r\n${csvLine()}`);
    expect(found).toMatchObject([
      { line: 3, plan: { ...plan, airline: 'Halcyon, "Gulf" & Ürümqi' } },
      { line: 5, plan },
    ]);
  });

  test.each([
    ["a missing column", header.replace(",price", ""), "The header lacks columns: price"],
    ["an unknown column", `${header},gate`, 'The header has unknown columns: "gate"'],
    [
      "a column name in the wrong case",
      header.replace("seats", "Seats"),
      '"Seats"; lacks columns: seats',
    ],
    ["a repeated column", `${header},price`, "The header repeats columns: price"],
    ["semicolons", header.replaceAll(",", ";"), "The header must separate columns with commas"],
    [
      "a flight plan in its place",
      csvLine(),
      'unknown columns: "N4101", "Northlight Airways", "JFK"',
    ],
    ["many unknown columns", "x,".repeat(2_000), '"x" and 1991 more; lacks columns'],
    ["terminal control characters", `${header},\u001b[2J\u202e`, 'unknown columns: "?[2J?"'],
    ["an unclosed quote", `"${header}`, "A quoted field is not closed correctly"],
    ["more than 10 KB", `${header},${"x".repeat(10_240)}`, "longer than 10240 bytes"],
  ])("stops at a header with %s", async (_, first, reason) => {
    const found = await summary(`${first}\n${csvLine()}\n`);
    expect(found).toEqual([expect.stringContaining(reason)]);
    expect(found[0]).toStartWith("1: ");
  });

  test("without lines is an error, with a header only it has no flights", async () => {
    expect(await summary("")).toEqual(["1: The header row is missing"]);
    expect(await summary("\r\n\n")).toEqual(["1: The header row is missing"]);
    expect(await summary(header)).toEqual([]);
  });

  test.each([
    ["an unclosed quote", csvLine({ airline: '"Halcyon' }), "A quoted field is not closed"],
    ["text after a quote", csvLine({ airline: '"Hal"cyon' }), "A quoted field is not closed"],
    ["missing fields", "N4101,Northlight", "The line has 2 fields, but the header has 10"],
    ["an extra field", `${csvLine()},`, "The line has 11 fields, but the header has 10"],
    ["more than 10 KB", csvLine({ airline: "x".repeat(10_240) }), "longer than 10240 bytes"],
    ["megabytes", csvLine({ airline: "x".repeat(3_000_000) }), "longer than 10240 bytes"],
  ])("skips only the line with %s", async (_, line, reason) => {
    const found = await summary(csv(csvLine(), line, csvLine()));
    expect(found).toEqual(["2: plan", expect.stringContaining(`3: `), "4: plan"]);
    expect(found[1]).toContain(reason);
  });

  test("skips only the line that is not UTF-8", async () => {
    const latin1 = Buffer.from(csv(csvLine({ airline: "Z\u00fcrich Air" }), csvLine()), "latin1");
    expect(await summary(latin1)).toEqual(["2: The line is not UTF-8 text", "3: plan"]);
  });
});

describe("NDJSON", () => {
  test("may have price and seats as numbers or strings", async () => {
    const text = [json({ price: 412.5, seats: 216 }), "", json()].join("\n");
    expect(await read(text, "ndjson")).toMatchObject([
      { line: 1, plan },
      { line: 3, plan },
    ]);
  });

  test.each([
    ["invalid JSON", "{oops", "The line is not JSON"],
    ["an array", "[1]", "The line is not a JSON object"],
    ["null", "null", "The line is not a JSON object"],
    ["an unknown key", json({ gate: 1 }), 'The line has unknown keys: "gate"'],
    ["no price", json({ price: undefined }), "price is missing"],
    ["null as the price", json({ price: null }), "price is missing"],
    [
      "an object as the price",
      json({ price: { amount: 1 } }),
      "price must be a string or a number",
    ],
    ["true as seats", json({ seats: true }), "seats must be a string or a number"],
    ["a fraction as seats", json({ seats: 1.5 }), "seats must be a whole number from 1 to 1000"],
    ["a huge price", json({ price: 1e21 }), "price must be a decimal number"],
    ["a lone surrogate", json({ airline: "\ud800" }), "airline must be 1 to 60 characters"],
    ["the key __proto__", '{"__proto__":1}', 'unknown keys: "__proto__"'],
  ])("skips only the line with %s", async (_, line, reason) => {
    const found = await summary([json(), line, json()].join("\n"), "ndjson");
    expect(found).toEqual(["1: plan", expect.stringContaining(reason), "3: plan"]);
  });

  test("without lines has no flights", async () => {
    expect(await summary("\n", "ndjson")).toEqual([]);
  });
});

describe("a flight plan", () => {
  const invalid: readonly (readonly [Partial<typeof row>, string])[] = [
    [{ flightNumber: "" }, "flightNumber is missing"],
    [{ flightNumber: "12345" }, "flightNumber must be an airline code and a number, such as BA117"],
    [{ flightNumber: "BA" }, "flightNumber must be"],
    [{ flightNumber: "BA12345" }, "flightNumber must be"],
    [{ flightNumber: "B-117" }, "flightNumber must be"],
    [{ airline: "  " }, "airline is missing"],
    [{ airline: "x".repeat(61) }, "airline must be 1 to 60 characters"],
    [{ airline: "Evil\u202eAir" }, "airline must be 1 to 60 characters, not all invisible"],
    [{ airline: "Evil\u0007Air" }, "airline must be 1 to 60 characters, not all invisible"],
    [{ origin: "JFKX" }, "origin must be an airport code of three letters"],
    [{ origin: "QQQ" }, "origin is not a known airport: QQQ"],
    [{ destination: "jfk" }, "destination must differ from origin"],
    [{ departureTime: "2026-12-01T18:25:00" }, "departureTime has no UTC offset: append Z"],
    [{ departureTime: "2026-12-01" }, "departureTime must be a time that exists"],
    [{ departureTime: "01/12/2026 18:25" }, "departureTime must be a time that exists"],
    [
      { departureTime: "2026-12-01T18:25:00-05:00[America/New_York]" },
      "must be a time that exists",
    ],
    [{ departureTime: "2026-02-30T18:25:00Z" }, "departureTime must be a time that exists"],
    [{ departureTime: "1999-12-01T18:25:00Z" }, "departureTime must be in the years 2000 to 2100"],
    [{ arrivalTime: "2026-12-01T23:25:00Z" }, "arrivalTime must be after departureTime"],
    [{ arrivalTime: "2026-12-02T23:25:01Z" }, "arrivalTime must be at most 24 hours after"],
    [{ cabinClass: "premium" }, "cabinClass must be one of: economy, business, first"],
    [{ seats: "0" }, "seats must be a whole number from 1 to 1000"],
    [{ seats: "1001" }, "seats must be"],
    [{ seats: "1e2" }, "seats must be"],
    [{ seats: "-5" }, "seats must be"],
    [{ price: "412.505" }, "price may have at most 2 decimals in USD"],
    [{ price: "412.50", currency: "JPY" }, "price may have no decimals in JPY"],
    [{ price: "-1" }, "price must be a decimal number of 0 or more"],
    [{ price: "10000000000" }, "price must not be more than 999999999999 minor units"],
    [{ currency: "US$" }, "currency must be an ISO 4217 currency"],
  ];

  test.each(invalid)("with %j is rejected: %s", async (changes, reason) => {
    const fromCsv = await summary(csv(csvLine(changes)));
    expect(fromCsv).toEqual([expect.stringContaining(reason)]);
    const fromJson = await summary(json(changes), "ndjson");
    expect(fromJson).toEqual([fromCsv[0]?.replace("2: ", "1: ") ?? ""]);
  });

  const valid: readonly (readonly [Partial<typeof row>, object])[] = [
    [{ flightNumber: " u2 8 451 a " }, { flightNumber: "U28451A" }],
    [{ flightNumber: "BA0117" }, { flightNumber: "BA117" }],
    [{ flightNumber: "qfa 0073b" }, { flightNumber: "QFA73B" }],
    [{ flightNumber: "9W0070" }, { flightNumber: "9W70" }],
    [{ flightNumber: "U20" }, { flightNumber: "U20" }],
    [{ flightNumber: "9W1" }, { flightNumber: "9W1" }],
    [{ flightNumber: "BAW117" }, { flightNumber: "BAW117" }],
    [{ airline: ` ${"é".repeat(60)} ` }, { airline: "é".repeat(60) }],
    [
      { origin: "lax", destination: " sfo " },
      { origin: "LAX", destination: "SFO" },
    ],
    [{ departureTime: "2026-12-01T23:25Z" }, plan],
    [{ departureTime: "2026-12-02T05:10:00.000+0545" }, plan],
    [{ arrivalTime: "2026-12-02T23:25:00Z" }, { arrivalTime: new Date("2026-12-02T23:25:00Z") }],
    [{ seats: "1000" }, { seats: 1_000 }],
    [{ price: "0" }, { priceMinor: 0 }],
    [
      { price: "1.234", currency: "kwd" },
      { priceMinor: 1_234, currency: "KWD" },
    ],
  ];

  test.each(valid)("with %j is accepted", async (changes, expected) => {
    expect(await read(csv(csvLine(changes)))).toMatchObject([{ plan: expected }]);
  });
});

describe("reading", () => {
  const text = csv(csvLine({ airline: "Ürümqi Air" }), "", "oops", csvLine()).replaceAll(
    "\n",
    "\r\n",
  );
  const bytes = new TextEncoder().encode(text);

  test("does not depend on the size of chunks", async () => {
    const whole = await read(bytes);
    await forAllAsync(100, [fc.integer({ min: 1, max: 300 })], async (chunkBytes) => {
      const parts = await Array.fromAsync(readFlightPlans(streamOf(bytes, chunkBytes), "csv"));
      expect(parts).toEqual(whole);
    });
  });

  test("never throws, for any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 400 }),
        fc.constantFrom<ImportFormat>("csv", "ndjson"),
        async (noise, format) => {
          await read(noise, format);
          const found = await read(Buffer.concat([Buffer.from(csv()), noise]), "csv");
          // Errors are printed on a terminal.
          const isPrintable = /^[\x20-\x7e\u2026]+$/;
          expect(found.every((line) => "error" in line && isPrintable.test(line.error))).toBe(true);
        },
      ),
    );
  });

  test("reads only as much of an endless stream as needed, and cancels it", async () => {
    let [chunks, cancelled] = [0, false];
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new TextEncoder().encode(chunks === 1 ? csv() : `${csvLine()}\n`));
      },
      cancel() {
        cancelled = true;
      },
    });
    let plans = 0;
    for await (const found of readFlightPlans(endless, "csv")) {
      if ("plan" in found) plans += 1;
      if (plans === 20) break;
    }
    expect(chunks).toBeLessThan(30);
    expect(cancelled).toBe(true);
  });

  test("throws the stream's error", async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("disk gone"));
      },
    });
    const error = await failure(Array.fromAsync(readFlightPlans(failing, "csv")));
    expect(error).toEqual(new Error("disk gone"));
  });
});
