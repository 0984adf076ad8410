import { table } from "./report.ts";

const daySeconds = 86_400;
const keptDays = 90;
const loads = [
  { webhooks: 100_000, destinations: 1 },
  { webhooks: 1_000_000, destinations: 2 },
  { webhooks: 10_000_000, destinations: 2 },
] as const;

/** On SQLite, in the application on PostgreSQL, and in PostgreSQL. */
type Costs = readonly [number, number, number];

/** Reads what a webhook costs from RESULTS.md, whose section `life` has the figures. */
function costsIn(results: string) {
  const figures = (step: string): Costs => {
    const [, ...cells] =
      new RegExp(`^\\| ${step} +\\|(.*)\\|(.*)\\|(.*)\\|$`, "m").exec(results) ?? [];
    if (cells.length === 0) throw new Error(`RESULTS.md does not say what it costs to ${step}`);
    const [sqlite = Number.NaN, app = Number.NaN, database = Number.NaN] = cells.map(Number);
    return [sqlite, app, database];
  };
  const [receive, deliver, remove] = [
    figures("receive, commit and index"),
    figures("deliver once"),
    figures("delete"),
  ];
  const [event, delivery] = [figures("bytes on disk: event"), figures("bytes on disk: delivery")];
  return {
    micros: (place: 0 | 1 | 2, destinations: number) =>
      receive[place] + remove[place] + destinations * deliver[place],
    bytes: (place: 0 | 2, destinations: number) => event[place] + destinations * delivery[place],
  };
}

/** What a machine needs, for docs/operations.md. */
export function sizingTable(results: string): string {
  const costs = costsIn(results);
  const rows = loads.map(({ webhooks, destinations }) => {
    const core = (place: 0 | 1 | 2): string => {
      const micros = costs.micros(place, destinations) * (webhooks / daySeconds);
      return `${Math.max(0.1, micros / 10_000).toFixed(1)} %`;
    };
    const disk = (place: 0 | 2): string => {
      const bytes = costs.bytes(place, destinations) * webhooks * keptDays;
      return `${Math.ceil(bytes / 1e9).toLocaleString("en")} GB`;
    };
    const load = [webhooks.toLocaleString("en"), String(destinations)];
    return [...load, core(0), disk(0), `${core(1)} + ${core(2)}`, disk(2)];
  });
  const head = [
    "webhooks a day",
    "destinations",
    "SQLite: of a core",
    "disk",
    "PostgreSQL: app + database, of a core",
    "disk",
  ];
  return table(head, rows);
}

/** What a million webhooks cost from their arrival to their deletion. */
export function millionTable(results: string): string {
  const costs = costsIn(results);
  // Microseconds for one webhook are seconds for a million.
  const minutes = (place: 0 | 1 | 2) => (costs.micros(place, 1) / 60).toFixed(0);
  const gigabytes = (place: 0 | 2) => (costs.bytes(place, 1) / 1_000).toFixed(1);
  return table(
    ["a million webhooks to one destination", "core-minutes", "GB of disk"],
    [
      ["SQLite", minutes(0), gigabytes(0)],
      ["PostgreSQL", `${minutes(1)} + ${minutes(2)} in the database`, gigabytes(2)],
    ],
  );
}
