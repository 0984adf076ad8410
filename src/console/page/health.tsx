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
  Silence,
} from "./health-panels.tsx";
import type { Route } from "./route.ts";
import { Empty, Fault, Loading } from "./ui.tsx";
import type { Deliveries, Health, Providers } from "./wire.ts";

const lookMs = 5_000;
/** What the chart's hours are in, as `Europe/Berlin`: the reader's. */
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** How far back, and seconds a bar. */
const ranges = {
  "1h": { seconds: 3_600, step: 60 },
  "6h": { seconds: 6 * 3_600, step: 300 },
  "24h": { seconds: 24 * 3_600, step: 900 },
  "7d": { seconds: 7 * 86_400, step: 7_200 },
} as const;

/** Health at a glance. */
export function HealthView({ route }: { readonly route: Route }) {
  const health = useLoad<Health>("v1/statistics/health");
  const providers = useLoad<Providers>("v1/providers");
  const deliveries = useDeliveries(route.query.get("range") ?? "1h");
  const letters = useLoad<DeadLetterPage>(deadLetters);
  const all = [health, deliveries, providers, letters];
  const reload = () => all.forEach((one) => one.reload());
  useInterval(reload, lookMs);
  // When the server is gone, all of them fail for one reason, which is said once.
  const faults = new Map(
    all.flatMap(({ error }) => (error === null ? [] : [[error.message, error] as const])),
  );

  return (
    <div class="page">
      <header class="bar">
        <h1>Health</h1>
      </header>
      {[...faults.values()].map((error) => (
        <Fault key={error.message} error={error} retry={reload} />
      ))}
      {health.value === null && health.error === null && <Loading what="figures" />}
      {health.value !== null && <Figures health={health.value} />}
      <section class="panel" aria-labelledby="deliveries">
        <header class="panel-bar">
          <h2 id="deliveries">Deliveries</h2>
          <form class="filters" onSubmit={(event) => event.preventDefault()}>
            <SelectFilter
              route={route}
              name="by"
              label="By"
              options={["verdict", "provider"]}
              preset="verdict"
            />
            <SelectFilter
              route={route}
              name="range"
              label="Last"
              options={Object.keys(ranges)}
              preset="1h"
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
      {providers.value !== null && <Silence providers={providers.value.data} />}
      {letters.value !== null && <DeadLetters page={letters.value} reload={letters.reload} />}
    </div>
  );
}

function useDeliveries(name: string) {
  const range = name === "6h" || name === "24h" || name === "7d" ? ranges[name] : ranges["1h"];
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), lookMs);
  // Whole steps, so that the address changes only when a new bar begins.
  const to = Math.floor(now / 1_000 / range.step + 1) * range.step;
  const time = (seconds: number) => encodeURIComponent(new Date(seconds * 1_000).toISOString());
  return useLoad<Deliveries>(
    `v1/statistics/deliveries?from=${time(to - range.seconds)}&to=${time(to)}&step=${range.step}`,
    { keep: true },
  );
}

/** Fixed, so that a colour means the same every day. */
const verdictColours: Readonly<Record<string, string>> = {
  accepted: "--series-2",
  duplicate: "--series-7",
  ignored: "--series-6",
  unreadable: "--series-3",
  refused: "--series-5",
  limited: "--series-4",
  unavailable: "--bad",
};

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
    return <Empty title="No deliveries in this time" />;
  }
  const minutes = deliveries.stepSeconds / 60;
  const said = totals.map(({ name, count }) => `${count} ${name}`).join(", ");
  return (
    <figure>
      <Chart label={`Deliveries by ${by}: ${said}`} times={times} series={series} />
      <figcaption class="quiet">
        {minutes === 1
          ? "A bar a minute"
          : minutes < 60
            ? `A bar every ${minutes} minutes`
            : `A bar every ${minutes / 60} hours`}
        , times in {zone}. In all: {said}.
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
    return [{ name, colour, values }];
  });
}
