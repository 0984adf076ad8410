import { median } from "./measure.ts";
import { table } from "./report.ts";

/** A figure, or its ratio to another figure of the same round, with the most or the least that it may be. */
interface Goal<Name extends string = string> {
  readonly goal: string;
  readonly of: Name;
  readonly per?: Name;
  readonly unit?: string;
  readonly most?: number;
  readonly least?: number;
}

/** Figures are µs of processor time over all threads, unless the goal has a unit. */
const goals = [
  { goal: "I1 ingest", of: "ingest", per: "U", most: 1.4 },
  { goal: "I1 ingest until indexed", of: "indexed", per: "U", most: 1.6 },
  {
    goal: "I1 with 1,000,000 events ÷ with 100,000",
    of: "longIngest",
    per: "shortIngest",
    most: 1.15,
  },
  { goal: "E1 received, indexed and delivered once", of: "delivered", per: "U", most: 2.7 },
  { goal: "D1 delivery, many destinations, SQLite", of: "delivery", per: "U", most: 1.2 },
  { goal: "D2 delivery, many destinations, PostgreSQL: app", of: "pgApp", per: "U", most: 2 },
  { goal: "D2 the same: database", of: "pgDatabase", per: "U", most: 1.2 },
  {
    goal: "D2 database, 10 × the backlog ÷ without",
    of: "pgBacklog",
    per: "pgDatabase",
    most: 1.15,
  },
  { goal: "W1 WAL, webhook delivered once", of: "pgWal", unit: "bytes", most: 4_000 },
  { goal: "W1 database, webhook delivered once", of: "pgDelivered", per: "U", most: 2 },
  { goal: "X1 indexing one event, SQLite", of: "index", per: "U", most: 0.12 },
  { goal: "R1 retention of one event, SQLite", of: "delete", per: "U", most: 0.5 },
  // Microseconds for one event are seconds for a million.
  { goal: "R1 retention of 1,000,000 events, PostgreSQL", of: "pgDelete", unit: "s", most: 1 },
  { goal: "B1 disk, event delivered once, SQLite", of: "disk", unit: "bytes", most: 1_800 },
  { goal: "M1 own memory, 50,000 webhooks", of: "memory50k", unit: "MB", most: 120 },
  { goal: "M1 own memory, 250,000 webhooks", of: "memory250k", unit: "MB", most: 120 },
  { goal: "M1 250,000 webhooks ÷ 50,000", of: "memory250k", per: "memory50k", most: 1.15 },
  { goal: "S1 start until the first response", of: "start", per: "H", most: 12 },
  { goal: "S1 size of the executable", of: "executable", unit: "MB", most: 145 },
  { goal: "G1 REST page ÷ GraphQL page", of: "restPage", per: "graphqlPage", least: 0.65 },
  { goal: "K1 deep page ÷ first page, SQL", of: "deepSql", per: "firstSql", most: 1.1 },
  { goal: "K1 deep page ÷ first page, HTTP", of: "deepPage", per: "firstPage", most: 1.15 },
  { goal: "K2 bookings ÷ holds", of: "bookings", per: "holds", least: 0.9 },
] as const satisfies readonly Goal[];

type Listed = (typeof goals)[number];
type Figure = Listed["of"] | Extract<Listed, { readonly per: string }>["per"];

/** The values of all rounds. U and H are those of the least programs. */
export type Figures = Readonly<Partial<Record<Figure, readonly number[]>>>;

interface Measured extends Goal {
  /** One for each round. */
  readonly values: readonly number[];
}

/** The goals that `figures` suffice for. */
export function measuredGoals(figures: Figures): readonly Measured[] {
  const all: readonly Goal<Figure>[] = goals;
  return all.flatMap((goal) => {
    const values = figures[goal.of];
    const divisors = goal.per === undefined ? values?.map(() => 1) : figures[goal.per];
    if (values === undefined || divisors === undefined) return [];
    return [{ ...goal, values: values.map((value, at) => value / (divisors[at] ?? Number.NaN)) }];
  });
}

/** The table of the goals that `figures` suffice for, and of all other goals as the table in `before` has them. */
export function goalsTable(figures: Figures, run: readonly string[], before: string): string {
  const measured = measuredGoals(figures).map((goal) => [...resultCells(goal), ...run]);
  const former = before.split("\n").map((line) => line.split(/ *\| */).slice(1, -1));
  const rows = goals.map((goal) => {
    const found = [...measured, ...former].find(([name]) => name === goal.goal);
    return found ?? [goal.goal, targetOf(goal), "not measured", "", "", ...run.map(() => "")];
  });
  const head = ["goal", "target", "median", "range", "result", "section", "commit", "U µs"];
  return table(head, rows);
}

function resultCells(goal: Measured): readonly string[] {
  const { values, most = Infinity, least = -Infinity } = goal;
  const figure = median(values);
  return [
    goal.goal,
    targetOf(goal),
    withUnit(figure, goal),
    `${short(Math.min(...values))} to ${short(Math.max(...values))}`,
    figure <= most && figure >= least ? "met" : "missed",
  ];
}

const targetOf = (goal: Goal): string =>
  goal.most === undefined
    ? `≥ ${withUnit(goal.least ?? Number.NaN, goal)}`
    : `≤ ${withUnit(goal.most, goal)}`;

/** Multiples of U and H have these as their units; ratios of two figures have none. */
function withUnit(value: number, { per = "", unit = "" }: Goal): string {
  return `${short(value)} ${/^[UH]$/.test(per) ? per : unit}`.trimEnd();
}

const short = (value: number): string =>
  value.toLocaleString("en", { maximumSignificantDigits: 3 });
