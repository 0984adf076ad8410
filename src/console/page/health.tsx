import { useMemo, useState } from "preact/hooks";

import { Chart, type Series } from "./chart.tsx";
import { SelectFilter } from "./filters.tsx";
import { useLoad } from "./load.ts";
import { useInterval } from "./live.ts";
import {
  type DeadLetterPage,
  DeadLetters,
  deadLetters,
  Figures,
  ProviderActivity,
} from "./health-panels.tsx";
import type { Route } from "./route.ts";
import { words } from "./text.tsx";
import { Empty, ErrorMessage, Loading } from "./ui.tsx";
import type { Deliveries, Health, Providers } from "./wire.ts";

const pollIntervalMs = 5_000;
/** The browser's time zone, which the chart uses: `Europe/Berlin`. */
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Length of the period and of one bar, in seconds. */
const ranges = {
  "1h": { label: "Last hour", seconds: 3_600, step: 60 },
  "6h": { label: "Last 6 hours", seconds: 6 * 3_600, step: 300 },
  "24h": { label: "Last 24 hours", seconds: 24 * 3_600, step: 900 },
  "7d": { label: "Last 7 days", seconds: 7 * 86_400, step: 7_200 },
} as const;

/** The Health view: key figures, deliveries over time, provider activity, dead letters. */
export function HealthView({ route }: { readonly route: Route }) {
  const health = useLoad<Health>("v1/statistics/health");
  const providers = useLoad<Providers>("v1/providers");
  const deliveries = useDeliveries(route.query.get("range") ?? "1h");
  const letters = useLoad<DeadLetterPage>(deadLetters);
  const all = [health, deliveries, providers, letters];
  const reload = () => all.forEach((one) => one.reload());
  useInterval(reload, pollIntervalMs);
  // While the server is down, all requests fail for the same reason: show each message once.
  const errors = new Map(
    all.flatMap(({ error }) => (error === null ? [] : [[error.message, error] as const])),
  );

  return (
    <div class="page">
      <header class="bar">
        <h1>Health</h1>
      </header>
      {[...errors.values()].map((error) => (
        <ErrorMessage key={error.message} error={error} retry={reload} />
      ))}
      {health.value === null && health.error === null && <Loading what="health" />}
      {health.value !== null && <Figures health={health.value} />}
      <section class="panel" aria-labelledby="deliveries">
        <header class="panel-bar">
          <h2 id="deliveries">Deliveries</h2>
          <form class="filters" onSubmit={(event) => event.preventDefault()}>
            <SelectFilter
              route={route}
              name="by"
              label="Group by"
              options={["verdict", "provider"]}
              preset="verdict"
              labelOf={words}
            />
            <SelectFilter
              route={route}
              name="range"
              label="Period"
              options={Object.keys(ranges)}
              preset="1h"
              labelOf={(name) => rangeOf(name).label}
            />
          </form>
        </header>
        {deliveries.value !== null && (
          <DeliveryChart
            deliveries={deliveries.value}
            by={route.query.get("by") === "provider" ? "provider" : "verdict"}
          />
        )}
      </section>
      {providers.value !== null && <ProviderActivity providers={providers.value.data} />}
      {letters.value !== null && <DeadLetters page={letters.value} reload={letters.reload} />}
    </div>
  );
}

function rangeOf(name: string) {
  return name === "6h" || name === "24h" || name === "7d" ? ranges[name] : ranges["1h"];
}

function useDeliveries(name: string) {
  const range = rangeOf(name);
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), pollIntervalMs);
  // Rounded to whole bars, so that the path changes only when a new bar begins.
  const to = Math.floor(now / 1_000 / range.step + 1) * range.step;
  const time = (seconds: number) => encodeURIComponent(new Date(seconds * 1_000).toISOString());
  return useLoad<Deliveries>(
    `v1/statistics/deliveries?from=${time(to - range.seconds)}&to=${time(to)}&step=${range.step}`,
    { keep: true },
  );
}

/** Fixed, so that each verdict keeps its colour. */
const verdictColours: Readonly<Record<string, string>> = {
  accepted: "--series-2",
  duplicate: "--series-7",
  ignored: "--series-6",
  unreadable: "--series-3",
  refused: "--series-5",
  limited: "--series-4",
  unavailable: "--bad",
};

/** The API calls a delivery that failed verification `refused`; the console calls it rejected. */
const verdictLabel = (verdict: string): string =>
  verdict === "refused" ? "Rejected" : words(verdict);

function DeliveryChart({
  deliveries,
  by,
}: {
  readonly deliveries: Deliveries;
  readonly by: "verdict" | "provider";
}) {
  const series = useMemo(() => summedBy(by, deliveries), [deliveries, by]);
  const times = useMemo(() => timesOf(deliveries), [deliveries]);
  const totals = series.map(({ name, values }) => ({
    name,
    count: values.reduce((sum, value) => sum + value, 0),
  }));
  if (series.length === 0) {
    return <Empty title="No deliveries in this period" />;
  }
  const minutes = deliveries.stepSeconds / 60;
  const summary = totals
    .map(({ name, count }) => `${count.toLocaleString("en")} ${name.toLowerCase()}`)
    .join(", ");
  return (
    <figure>
      <Chart label={`Deliveries by ${by}: ${summary}`} times={times} series={series} />
      <figcaption class="quiet">
        One bar per{" "}
        {minutes === 1 ? "minute" : minutes < 60 ? `${minutes} minutes` : `${minutes / 60} hours`},
        times in {zone}. Total: {summary}.
      </figcaption>
    </figure>
  );
}

function timesOf({ from, to, stepSeconds }: Deliveries): readonly number[] {
  const start = Date.parse(from) / 1_000;
  const count = Math.round((Date.parse(to) / 1_000 - start) / stepSeconds);
  return Array.from({ length: count }, (_, index) => start + index * stepSeconds);
}

function summedBy(by: "verdict" | "provider", { series }: Deliveries): readonly Series[] {
  const sums = new Map<string, readonly number[]>();
  for (const one of series) {
    const before = sums.get(one[by]);
    sums.set(
      one[by],
      before === undefined
        ? one.counts
        : before.map((sum, index) => sum + (one.counts[index] ?? 0)),
    );
  }
  const order = by === "verdict" ? Object.keys(verdictColours) : [...sums.keys()].toSorted();
  return order.flatMap((name, index) => {
    const values = sums.get(name);
    if (values === undefined) return [];
    const colour =
      by === "verdict" ? (verdictColours[name] ?? "--series-6") : `--series-${(index % 7) + 1}`;
    return [{ name: by === "verdict" ? verdictLabel(name) : name, colour, values }];
  });
}
