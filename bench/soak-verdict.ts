import { median } from "./measure.ts";
import { table } from "./report.ts";
import type { SoakTick } from "./soak-load.ts";

/** The server and its files at one moment of a soak. */
export interface Sample extends Omit<SoakTick, "isLast"> {
  /** Since the load began. */
  readonly seconds: number;
  readonly memoryBytes: number;
  readonly databaseBytes: number;
  /** Pages of the database that are free for what comes. */
  readonly freeBytes: number;
  readonly logBytes: number;
  readonly events: number;
}

export interface Verdict {
  readonly what: string;
  readonly found: string;
  readonly bound: string;
  readonly passed: boolean;
}

/** What the last quarter may have more than the third, or for latency than the second. */
const mostMemoryGrowth = 1.1;
const mostDatabaseGrowth = 1.02;
const mostP50Growth = 1.5;
const mostP99Growth = 2;
const mostLogBytes = 64e6;

/** Whether the server stayed as it was. `bytesKept`: what a booking takes in the database for ever. */
export function judge(samples: readonly Sample[], bytesKept: number): readonly Verdict[] {
  const quarter = (number: number) =>
    samples.slice(
      Math.floor((samples.length * (number - 1)) / 4),
      Math.floor((samples.length * number) / 4),
    );
  const medianOf = (number: number, pick: (sample: Sample) => number) =>
    median(quarter(number).map(pick));
  const mostOf = (number: number, pick: (sample: Sample) => number) =>
    Math.max(...quarter(number).map(pick));
  const size = ({ databaseBytes, bookings }: Sample) => databaseBytes - bookings * bytesKept;
  const longestLog = Math.max(...samples.map(({ logBytes }) => logBytes));
  const refused = samples.at(-1)?.refused ?? 0;
  return [
    {
      what: "all requests acknowledged",
      found: `${refused} refused`,
      bound: "0",
      passed: refused === 0,
    },
    growth("memory, median: last quarter ÷ third", mostMemoryGrowth, [
      medianOf(4, ({ memoryBytes }) => memoryBytes),
      medianOf(3, ({ memoryBytes }) => memoryBytes),
    ]),
    growth("p50, median: last quarter ÷ second", mostP50Growth, [
      medianOf(4, ({ p50Ms }) => p50Ms),
      medianOf(2, ({ p50Ms }) => p50Ms),
    ]),
    growth("p99, median: last quarter ÷ second", mostP99Growth, [
      medianOf(4, ({ p99Ms }) => p99Ms),
      medianOf(2, ({ p99Ms }) => p99Ms),
    ]),
    growth("database without bookings, most: last quarter ÷ third", mostDatabaseGrowth, [
      mostOf(4, size),
      mostOf(3, size),
    ]),
    {
      what: "write-ahead log, most",
      found: `${megabytes(longestLog)} MB`,
      bound: `≤ ${megabytes(mostLogBytes)} MB`,
      passed: longestLog <= mostLogBytes,
    },
  ];
}

function growth(what: string, most: number, [last, earlier]: readonly [number, number]): Verdict {
  const ratio = last / earlier;
  return { what, found: ratio.toFixed(2), bound: `≤ ${most}`, passed: ratio <= most };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ["what", "found", "bound", "result"],
    verdicts.map(({ what, found, bound, passed }) => [
      what,
      found,
      bound,
      passed ? "pass" : "FAIL",
    ]),
  );
}

const mostRows = 30;

/** The samples as a table, thinned out to a page. */
export function sampleTable(samples: readonly Sample[]): string {
  const each = Math.ceil(samples.length / mostRows);
  const shown = samples.filter((_, index) => index % each === 0 || index === samples.length - 1);
  return table(
    [
      "s",
      "webhooks",
      "bookings",
      "p50 ms",
      "p99 ms",
      "memory MB",
      "database MB",
      "free MB",
      "log MB",
      "events",
    ],
    shown.map((sample) => [
      String(Math.round(sample.seconds)),
      sample.webhooks.toLocaleString("en"),
      sample.bookings.toLocaleString("en"),
      sample.p50Ms.toFixed(1),
      sample.p99Ms.toFixed(1),
      megabytes(sample.memoryBytes),
      megabytes(sample.databaseBytes),
      megabytes(sample.freeBytes),
      megabytes(sample.logBytes),
      sample.events.toLocaleString("en"),
    ]),
  );
}

const megabytes = (bytes: number) => String(Math.round(bytes / 1e6));
