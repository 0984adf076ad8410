/** A metric of /metrics. */
interface ExposedMetric {
  readonly type: string;
  readonly help: string;
  readonly labels: ReadonlySet<string>;
}

/** Parses Prometheus' text format into metrics by name. Throws on an invalid line. */
export function metricsIn(text: string): ReadonlyMap<string, ExposedMetric> {
  const metrics = new Map<string, { type: string; help: string; labels: Set<string> }>();
  let current = { type: "", help: "", labels: new Set<string>() };
  for (const line of text.split("\n").filter((found) => found !== "")) {
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === "HELP")
      metrics.set(name, (current = { type: "", help: rest, labels: new Set() }));
    else if (keyword === "TYPE") current.type = rest;
    else {
      const [, labels = ""] =
        /^[a-z_]+(?:\{(.*)\})? (?:-?[\d.e+-]+|NaN|\+Inf)$/.exec(line) ?? fail(line);
      for (const [, label = ""] of labels.matchAll(/([a-z_]+)="/g)) {
        if (label !== "le") current.labels.add(label);
      }
    }
  }
  return metrics;
}

function fail(line: string): never {
  throw new Error(`Invalid line of the text format: ${line}`);
}

/** The value of a series, named as in /metrics; 0 if it does not exist. */
export function valueOf(text: string, series: string): number {
  const line = text.split("\n").find((found) => found.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}
