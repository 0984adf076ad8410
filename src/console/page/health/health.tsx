import { useMemo } from "preact/hooks";

import { Chart, type Series } from "../kit/chart.tsx";
import { Page } from "../kit/layout.tsx";
import { Controls, SelectFilter } from "../kit/list/filters.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { rangeOf, ranges, stepText, timesOf, useSpan, zone } from "../kit/ranges.ts";
import { words } from "../kit/text.tsx";
import { Empty, ErrorMessage, Loading } from "../kit/ui.tsx";
import type { ViewParts } from "../kit/views.ts";
import type { Deliveries, Health } from "../kit/wire.ts";

import { LatencyPanel } from "./latency.tsx";
import { Stats } from "./stats.tsx";

const pollIntervalMs = 5_000;

/** The Health view: key figures, deliveries over time, and how long they take. */
export function HealthView({ route }: ViewParts) {
  const health = useLoad<Health>("v1/statistics/health");
  const period = useSpan(route.query.get("range") ?? "1h");
  const deliveries = useLoad<Deliveries>(`v1/statistics/deliveries?${period}`, { keep: true });
  const all = [health, deliveries];
  const reload = () => all.forEach((one) => one.reload());
  useInterval(reload, pollIntervalMs);
  // While the server is down, all requests fail for the same reason: show each message once.
  const errors = new Map(
    all.flatMap(({ error }) => (error === null ? [] : [[error.message, error] as const])),
  );

  return (
    <Page title="Health">
      {[...errors.values()].map((error) => (
        <ErrorMessage key={error.message} error={error} retry={reload} />
      ))}
      {health.value === null && health.error === null && <Loading what="health" />}
      {health.value !== null && <Stats health={health.value} />}
      <section class="panel" aria-labelledby="deliveries">
        <header class="panel-bar">
          <h2 id="deliveries">Deliveries</h2>
          <Controls>
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
          </Controls>
        </header>
        {deliveries.value !== null && (
          <DeliveryChart
            deliveries={deliveries.value}
            by={route.query.get("by") === "provider" ? "provider" : "verdict"}
          />
        )}
      </section>
      <LatencyPanel route={route} />
    </Page>
  );
}

/** Fixed, so that each verdict keeps its colour. Accepted and rejected differ for colour-blind readers too. */
const verdictColours: Readonly<Record<string, string>> = {
  accepted: "--series-1",
  duplicate: "--series-7",
  ignored: "--series-6",
  unreadable: "--series-3",
  recovered: "--series-2",
  handshake: "--series-6",
  rejected: "--series-5",
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
    return <Empty title="No deliveries in this period" />;
  }
  const summary = totals
    .map(({ name, count }) => `${count.toLocaleString("en")} ${name.toLowerCase()}`)
    .join(", ");
  return (
    <figure>
      <Chart label={`Deliveries by ${by}: ${summary}`} times={times} series={series} />
      <figcaption class="quiet">
        One bar per {stepText(deliveries.stepSeconds)}, times in {zone}. Total: {summary}.
      </figcaption>
    </figure>
  );
}

interface CountSeries extends Series {
  readonly values: readonly number[];
}

function summedBy(by: "verdict" | "provider", { series }: Deliveries): readonly CountSeries[] {
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
    return [{ name: by === "verdict" ? words(name) : name, colour, values }];
  });
}
