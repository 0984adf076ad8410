import { useMemo } from "preact/hooks";

import { Chart, type Series } from "./chart.tsx";
import { milliseconds, span } from "./durations.ts";
import { useInterval } from "./live.ts";
import { useLoad } from "./load.ts";
import { rangeOf, stepText, timesOf, useSpan, zone } from "./ranges.ts";
import { counted } from "./text.tsx";
import { Empty, ErrorMessage, Loading } from "./ui.tsx";
import type { LatencySteps } from "./wire.ts";

/** How often delivery times are read again. */
export const latencyPollMs = 15_000;

/** What a chart measures. */
export const measures = {
  attempt: "Attempt",
  receipt: "From receipt",
  failures: "Failures",
} as const;
export type Measure = keyof typeof measures;

export const measureOf = (name: string | null): Measure =>
  name === "receipt" || name === "failures" ? name : "attempt";

interface ChartParts {
  /** The destination in the API. */
  readonly path: string;
  readonly range: string;
  readonly measure: Measure;
}

/** How long deliveries to a destination take, or how they ended. */
export function LatencyChart({ path, range, measure }: ChartParts) {
  const latency = useLoad<LatencySteps>(`${path}/latency?${useSpan(range)}`, { keep: true });
  useInterval(latency.reload, latencyPollMs);
  const { value, error, reload } = latency;
  return (
    <>
      {/* While the server is down, the view says so. */}
      {error !== null && error.status !== 0 && <ErrorMessage error={error} retry={reload} />}
      {value === null && error === null && <Loading what="delivery times" />}
      {value !== null && <Steps of={value} measure={measure} range={range} />}
    </>
  );
}

interface StepsParts extends Pick<ChartParts, "measure" | "range"> {
  readonly of: LatencySteps;
}

const meanings = {
  attempt: "How long one attempt took",
  receipt: "From the receipt of an event to its delivery, retries included",
  failures: "How attempts ended",
} as const;

function Steps({ of: latency, measure, range }: StepsParts) {
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
