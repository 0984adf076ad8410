import { useEffect, useMemo, useState } from "preact/hooks";

import { milliseconds, span } from "../durations.ts";
import { Controls, SelectFilter } from "../filters.tsx";
import { useInterval } from "../live.ts";
import { useLoad } from "../load.ts";
import { rangeOf, ranges, stepText, timesOf, useSpan, zone } from "../ranges.ts";
import { type Route, writeRoute } from "../route.ts";
import { counted } from "../text.tsx";
import { Empty, ErrorMessage, Loading } from "../ui.tsx";
import type { DestinationDetail, LatencySteps, Page } from "../wire.ts";

import { Chart, type Series } from "./chart.tsx";

const pollIntervalMs = 15_000;

/** What a chart measures. */
const measures = {
  attempt: "Attempt",
  receipt: "From receipt",
  failures: "Failures",
} as const;
type Measure = keyof typeof measures;

const measureOf = (name: string | null): Measure =>
  name === "receipt" || name === "failures" ? name : "attempt";

interface PaneParts {
  /** The destination in the API. */
  readonly path: string;
}

/** How long deliveries to a destination take, in its pane. */
export function DestinationLatency({ path }: PaneParts) {
  const [range, setRange] = useState("24h");
  const [measure, setMeasure] = useState<Measure>("attempt");
  return (
    <section aria-labelledby="latency">
      <header class="panel-bar">
        <h3 id="latency">Delivery time</h3>
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

/** How long deliveries take, on the Health page: of the slowest destination, unless another one is chosen. */
export function LatencyPanel({ route }: { readonly route: Route }) {
  const { query } = route;
  const { value, reload } = useLoad<Page<DestinationDetail>>(
    "v1/destinations?include=health&limit=100&owner=operators",
  );
  useInterval(reload, pollIntervalMs);
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

interface ChartParts extends PaneParts {
  readonly range: string;
  readonly measure: Measure;
}

function LatencyChart({ path, range, measure }: ChartParts) {
  const latency = useLoad<LatencySteps>(`${path}/latency?${useSpan(range)}`, { keep: true });
  useInterval(latency.reload, pollIntervalMs);
  const { value, error, reload } = latency;
  return (
    <>
      {/* While the server is down, the view says so. */}
      {error !== null && error.status !== 0 && <ErrorMessage error={error} retry={reload} />}
      {value === null && error === null && <Loading what="delivery times" />}
      {value !== null && <Figures of={value} measure={measure} range={range} />}
    </>
  );
}

interface FiguresParts extends Pick<ChartParts, "measure" | "range"> {
  readonly of: LatencySteps;
}

const meanings = {
  attempt: "How long one attempt took",
  receipt: "From the receipt of an event to its delivery, retries included",
  failures: "How attempts ended",
} as const;

function Figures({ of: latency, measure, range }: FiguresParts) {
  const times = useMemo(() => timesOf(latency), [latency]);
  const series = useMemo(() => seriesOf(latency, measure), [latency, measure]);
  const { steps, stepSeconds } = latency;
  const isFailures = measure === "failures";
  const sum = (name: "attempts" | "failed") => steps.reduce((all, step) => all + step[name], 0);
  const [attempts, failed] = [sum("attempts"), sum("failed")];
  const highest = Math.max(...series[1].values.map((value) => value ?? -1));
  if (attempts === 0 || highest < 0) {
    const isAttempt = measure === "attempt" || attempts === 0;
    const what = isAttempt ? "attempts" : "successful deliveries";
    return <Empty title={`No ${what} in the ${rangeOf(range).label.toLowerCase()}`} />;
  }
  const counts = `${counted(attempts, "attempt")}, ${failed.toLocaleString("en")} failed.`;
  const summary = isFailures ? counts : `Highest p95: ${lengthText(highest)}. ${counts}`;
  const text = `${meanings[measure]}. ${summary}`;
  return (
    <figure>
      <Chart
        label={text}
        times={times}
        series={series}
        {...(!isFailures && { lines: { format: lengthText } })}
      />
      <figcaption class="quiet">
        {text} One {isFailures ? "bar" : "point"} per {stepText(stepSeconds)}, of at most 100
        attempts; times in {zone}.
      </figcaption>
    </figure>
  );
}

/** Failures on top of successes, or the median and, above it and dashed, the 95th percentile: colour is not needed. */
function seriesOf({ steps }: LatencySteps, measure: Measure): readonly [Series, Series] {
  if (measure === "failures") {
    const delivered = steps.map(({ attempts, failed }) => attempts - failed);
    return [
      { name: "Delivered", colour: "--series-1", values: delivered },
      { name: "Failed", colour: "--series-5", values: steps.map(({ failed }) => failed) },
    ];
  }
  const isAttempt = measure === "attempt";
  return [
    {
      name: "Median",
      colour: "--series-1",
      values: steps.map((step) => (isAttempt ? step.p50Ms : step.p50SinceReceiptMs)),
    },
    {
      name: "p95",
      colour: "--series-3",
      isDashed: true,
      values: steps.map((step) => (isAttempt ? step.p95Ms : step.p95SinceReceiptMs)),
    },
  ];
}

/** `41 ms`, `41.9 s`, `26 h`: retries can take hours. */
function lengthText(ms: number): string {
  return ms < 90_000 ? milliseconds(ms) : span(ms / 1_000);
}
