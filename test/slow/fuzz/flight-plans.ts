import fc from "fast-check";

import {
  type ImportedLine,
  type ImportFormat,
  readFlightPlans,
} from "../../../src/booking/flights/flight-plans.ts";

import { encoded, type Json, jsonText, spoilt } from "./json.ts";
import { shownBytes } from "./request.ts";
import { target } from "./target.ts";
import { hostileText } from "./text.ts";

const good = {
  flightNumber: "BA117",
  airline: "Skyhook Air",
  origin: "JFK",
  destination: "LHR",
  departureTime: "2026-12-01T18:25:00-05:00",
  arrivalTime: "2026-12-02T06:30:00Z",
  cabinClass: "economy",
  seats: "10",
  price: "499.50",
  currency: "USD",
};
const columns = Object.keys(good);
const cells = Object.values(good);

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const cell = fc.oneof(hostileText, hostileText.map(quoted), fc.constantFrom(...cells, '"BA"117'));
/** A good row with some of its cells replaced. */
const csvRow = fc.array(fc.tuple(fc.nat(9), cell), { maxLength: 2 }).map((changes) => {
  const row = new Map<number, string>(changes);
  return cells.map((value, index) => row.get(index) ?? value).join(",");
});
const csvHeader = fc.oneof(
  { weight: 6, arbitrary: fc.constant(columns.join(",")) },
  fc.shuffledSubarray(columns).map((names) => names.join(",")),
  fc.constantFrom(columns.join(";"), "", "\ufeff"),
  hostileText,
);
const ending = fc.constantFrom("\n", "\r\n", "\n\n", "\r");
const file = (first: fc.Arbitrary<string>, row: fc.Arbitrary<string>) =>
  fc
    .tuple(first, fc.array(row, { maxLength: 6 }), ending)
    .map(([header, rows, end]) => [header, ...rows].join(end));

const plan: fc.Arbitrary<Json> = fc.constant(good);
const ndjsonRow = fc.oneof(
  { weight: 3, arbitrary: spoilt(plan) },
  { weight: 1, arbitrary: jsonText.map((text) => text.replaceAll(/[\r\n]/g, "")) },
);

const files = fc.record({
  format: fc.constantFrom<ImportFormat[]>("csv", "ndjson"),
  csv: encoded(file(csvHeader, csvRow)),
  ndjson: encoded(file(ndjsonRow, ndjsonRow)),
  chunkBytes: fc.integer({ min: 1, max: 50 }),
});

async function linesOf(
  bytes: Uint8Array,
  format: ImportFormat,
  chunkBytes: number,
): Promise<ImportedLine[]> {
  const parts = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.slice(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const lines: ImportedLine[] = [];
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  for await (const line of readFlightPlans(input, format)) lines.push(line);
  return lines;
}

export const flightPlans = target({
  name: "flight-plans",
  about: "CSV and NDJSON to import: each line once, in order, however the bytes come",
  shortRuns: 80,
  cases: files.map(({ format, csv, ndjson, chunkBytes }) => ({
    format,
    chunkBytes,
    bytes: format === "csv" ? csv : ndjson,
  })),
  show: ({ format, chunkBytes, bytes }) =>
    `${format} in chunks of ${chunkBytes} bytes: ${shownBytes(bytes)}`,
  async check({ format, bytes, chunkBytes }) {
    const lines = await linesOf(bytes, format, Math.max(1, bytes.length));
    const again = await linesOf(bytes, format, chunkBytes);
    if (!Bun.deepEquals(lines, again)) throw new Error("Smaller chunks are read otherwise");
    const breaks = Buffer.from(bytes).toString("latin1").split("\n").length;
    let previous = 0;
    for (const line of lines) {
      if (line.line <= previous || line.line > breaks) throw new Error(`Line ${line.line} is none`);
      previous = line.line;
      if ("error" in line) checkError(line.error);
      else checkPlan(line);
    }
  },
});

/** Errors are printed on a terminal. */
function checkError(error: string): void {
  if (error === "" || error.length > 1_000 || /[^\x20-\x7e\u2026]/.test(error)) {
    throw new Error(`Not safe to print: ${JSON.stringify(error)}`);
  }
}

function checkPlan({ plan: read }: Extract<ImportedLine, { plan: unknown }>): void {
  const isSound =
    read.departureTime < read.arrivalTime &&
    read.origin !== read.destination &&
    Number.isSafeInteger(read.priceMinor) &&
    read.seats >= 1 &&
    read.airline.isWellFormed();
  if (!isSound) throw new Error(`Read as ${JSON.stringify(read)}`);
}
