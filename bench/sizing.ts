const daySeconds = 86_400;
const keptDays = 90;
const loads = [
  { webhooks: 100_000, destinations: 1 },
  { webhooks: 1_000_000, destinations: 2 },
  { webhooks: 10_000_000, destinations: 2 },
] as const;

/** What a machine needs, for docs/operations.md. `results` is RESULTS.md, whose section `life` has the figures. */
export function sizingTable(results: string): string {
  /** On SQLite, in the application on PostgreSQL, and in PostgreSQL. */
  const figures = (step: string) => {
    const [, ...cells] =
      new RegExp(`^\\| ${step} +\\|(.*)\\|(.*)\\|(.*)\\|$`, "m").exec(results) ?? [];
    if (cells.length === 0) throw new Error(`RESULTS.md does not say what it costs to ${step}`);
    return cells.map(Number);
  };
  const [receive, deliver, remove] = ["receive, commit and index", "deliver once", "delete"].map(
    figures,
  );
  const [event, delivery] = ["event", "delivery"].map((what) => figures(`bytes on disk: ${what}`));
  const rows = loads.map(({ webhooks, destinations }) => {
    const perSecond = webhooks / daySeconds;
    const core = (place: number): string => {
      const once = (receive?.[place] ?? Number.NaN) + (remove?.[place] ?? Number.NaN);
      const micros = once + destinations * (deliver?.[place] ?? Number.NaN);
      return `${Math.max(0.1, (perSecond * micros) / 10_000).toFixed(1)} %`;
    };
    const disk = (place: number): string => {
      const bytes =
        (event?.[place] ?? Number.NaN) + destinations * (delivery?.[place] ?? Number.NaN);
      return `${Math.ceil((webhooks * keptDays * bytes) / 1e9).toLocaleString("en")} GB`;
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
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
