import { useState } from "preact/hooks";

import { LatencyChart, type Measure, measureOf, measures } from "../kit/latency-chart.tsx";
import { Controls } from "../kit/list/filters.tsx";
import { rangeOf, ranges } from "../kit/ranges.ts";

interface PaneParts {
  /** The destination in the API. */
  readonly path: string;
}

/** How long deliveries to a destination take, in its pane. */
export function DestinationLatency({ path }: PaneParts) {
  const [range, setRange] = useState("24h");
  const [measure, setMeasure] = useState<Measure>("failures");
  return (
    <section aria-labelledby="latency">
      <header class="panel-bar">
        <h3 id="latency">Attempts</h3>
        <Controls>
          <select
            aria-label="Measure"
            value={measure}
            onChange={(event) => setMeasure(measureOf(event.currentTarget.value))}
          >
            {Object.entries(measures).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
          <select
            aria-label="Period"
            value={range}
            onChange={(event) => setRange(event.currentTarget.value)}
          >
            {Object.keys(ranges).map((name) => (
              <option key={name} value={name}>
                {rangeOf(name).label}
              </option>
            ))}
          </select>
        </Controls>
      </header>
      <LatencyChart path={path} range={range} measure={measure} />
    </section>
  );
}
