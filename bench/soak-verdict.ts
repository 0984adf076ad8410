import { median } from "./measure.ts";
import { table } from "./report.ts";
import type { SoakTick } from "./soak-load.ts";

/** The state of the server and its files during a soak test. */
export interface Sample extends Omit<SoakTick, "isLast"> {
  /** Seconds since the start of the load. */
  readonly seconds: number;
  readonly memoryBytes: number;
  readonly databaseBytes: number;
  /** Free pages of the database, which SQLite reuses. */
  readonly freeBytes: number;
  readonly logBytes: number;
  readonly events: number;
}

interface Verdict {
  readonly what: string;
  readonly found: string;
  readonly bound: string;
  readonly passed: boolean;
}

/** The most growth of the last quarter over the third one, or for latency over the second one. */
const maxMemoryGrowth = 1.1;
/** Of memory between the webhooks, by which a leak of 125 bytes a webhook shows. Its noise is 15 %. */
const [early, later] = [50_000, 150_000];
const maxLeak = 1.18;
const maxDatabaseGrowth = 1.02;
const maxP50Growth = 1.5;
const maxP99Growth = 2;
const maxLogBytes = 64e6;

/** Checks that memory, latency and files stayed flat. `bytesKept` is the size of a booking, which is never deleted. */
export function judge(samples: readonly Sample[], bytesKept: number): readonly Verdict[] {
  const quarter = (number: number) =>
    samples.slice(
      Math.floor((samples.length * (number - 1)) / 4),
      Math.floor((samples.length * number) / 4),
    );
  const medianOf = (number: number, pick: (sample: Sample) => number) =>
    median(quarter(number).map(pick));
  const maxOf = (number: number, pick: (sample: Sample) => number) =>
    Math.max(...quarter(number).map(pick));
  const size = ({ databaseBytes, bookings }: Sample) => databaseBytes - bookings * bytesKept;
  const longestLog = Math.max(...samples.map(({ logBytes }) => logBytes));
  const failed = samples.at(-1)?.failed ?? 0;
  return [
    {
      what: "all requests acknowledged",
      found: `${failed} failed`,
      bound: "0",
      passed: failed === 0,
    },
    growth("memory, median: last quarter ÷ third", maxMemoryGrowth, [
      medianOf(4, ({ memoryBytes }) => memoryBytes),
      medianOf(3, ({ memoryBytes }) => memoryBytes),
    ]),
    ...(samples.some(({ webhooks }) => webhooks >= later)
      ? [
          growth("memory, median: around 150,000 webhooks ÷ around 50,000", maxLeak, [
            memoryAround(samples, later),
            memoryAround(samples, early),
          ]),
        ]
      : []),
    growth("p50, median: last quarter ÷ second", maxP50Growth, [
      medianOf(4, ({ p50Ms }) => p50Ms),
      medianOf(2, ({ p50Ms }) => p50Ms),
    ]),
    growth("p99, median: last quarter ÷ second", maxP99Growth, [
      medianOf(4, ({ p99Ms }) => p99Ms),
      medianOf(2, ({ p99Ms }) => p99Ms),
    ]),
    growth("database without bookings, maximum: last quarter ÷ third", maxDatabaseGrowth, [
      maxOf(4, size),
      maxOf(3, size),
    ]),
    {
      what: "write-ahead log, maximum",
      found: `${megabytes(longestLog)} MB`,
      bound: `≤ ${megabytes(maxLogBytes)} MB`,
      passed: longestLog <= maxLogBytes,
    },
  ];
}

const memoryAround = (samples: readonly Sample[], count: number) =>
  median(
    samples
      .filter(({ webhooks }) => Math.abs(webhooks - count) <= count / 2)
      .map(({ memoryBytes }) => memoryBytes),
  );

function growth(what: string, most: number, [last, earlier]: readonly [number, number]): Verdict {
  const ratio = last / earlier;
  return { what, found: ratio.toFixed(2), bound: `≤ ${most}`, passed: ratio <= most };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ["check", "value", "limit", "result"],
    verdicts.map(({ what, found, bound, passed }) => [
      what,
      found,
      bound,
      passed ? "pass" : "FAIL",
    ]),
  );
}

const maxRows = 30;

/** The samples as a table of limited length. */
export function sampleTable(samples: readonly Sample[]): string {
  const each = Math.ceil(samples.length / maxRows);
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
