import { useEffect, useState } from "preact/hooks";

import { LatencyChart, latencyPollMs, measureOf, measures } from "../kit/latency-chart.tsx";
import { Controls, SelectFilter } from "../kit/list/filters.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { rangeOf } from "../kit/ranges.ts";
import { type Route, writeRoute } from "../kit/route.ts";
import { Empty } from "../kit/ui.tsx";
import type { DestinationDetail, Page } from "../kit/wire.ts";

/** How long deliveries take, on the Health page: of the slowest destination, unless another one is chosen. */
export function LatencyPanel({ route }: { readonly route: Route }) {
  const { query } = route;
  const { value, reload } = useLoad<Page<DestinationDetail>>(
    "v1/destinations?include=health&limit=100&owner=operators",
  );
  useInterval(reload, latencyPollMs);
  const all = value?.data ?? [];
  // Chosen once: the chart must not change its subject while it is looked at.
  const [slowest, setSlowest] = useState<string | null>(null);
  useEffect(() => setSlowest((before) => before ?? slowestOf(all)), [value]);
  if (value === null) return null;
  const id = query.get("destination") ?? slowest;
  const range = query.get("range") ?? "1h";
  const nameOf = (each: string) => all.find((one) => one.id === each)?.name ?? each;
  return (
    <section class="panel" aria-labelledby="latency">
      <header class="panel-bar">
        <h2 id="latency">Delivery time, {rangeOf(range).label.toLowerCase()}</h2>
        {id !== null && (
          <Controls>
            <SelectFilter
              route={route}
              name="destination"
              label="Destination"
              options={all.map((each) => each.id)}
              preset={slowest ?? ""}
              labelOf={nameOf}
            />
            <SelectFilter
              route={route}
              name="measure"
              label="Measure"
              options={Object.keys(measures)}
              preset="attempt"
              labelOf={(name) => measures[measureOf(name)]}
            />
          </Controls>
        )}
      </header>
      {id === null ? (
        <Empty title="No destinations yet">
          <p>
            <a href={writeRoute("destinations")}>Destinations</a> receive notifications. How long
            that takes appears here.
          </p>
        </Empty>
      ) : (
        <LatencyChart
          key={id}
          path={`v1/destinations/${encodeURIComponent(id)}`}
          range={range}
          measure={measureOf(query.get("measure"))}
        />
      )}
    </section>
  );
}

/** The id of the destination whose last deliveries took longest; null without destinations. */
function slowestOf(destinations: readonly DestinationDetail[]): string | null {
  const tookMs = ({ health }: DestinationDetail) => health.p95Ms ?? -1;
  return destinations.toSorted((one, other) => tookMs(other) - tookMs(one))[0]?.id ?? null;
}
