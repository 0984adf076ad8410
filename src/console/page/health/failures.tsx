import { useMemo } from "preact/hooks";

import { rangeOf, stepText, timesOf, zone } from "../ranges.ts";
import { counted } from "../text.tsx";
import { Empty } from "../ui.tsx";
import type { LatencySteps } from "../wire.ts";

import { Chart } from "./chart.tsx";

interface Parts {
  readonly of: LatencySteps;
  /** The name of the period. */
  readonly range: string;
}

/** How many attempts were made, and failed. */
export function Failures({ of: latency, range }: Parts) {
  const times = useMemo(() => timesOf(latency), [latency]);
  const { steps, stepSeconds } = latency;
  const series = useMemo(
    () => [
      {
        name: "Delivered",
        colour: "--series-1",
        values: steps.map(({ attempts, failed }) => attempts - failed),
      },
      { name: "Failed", colour: "--series-5", values: steps.map(({ failed }) => failed) },
    ],
    [latency],
  );
  const [attempts, failed] = attemptsIn(latency);
  if (attempts === 0) return <NoAttempts range={range} />;
  const summary = `${counted(attempts, "attempt")}, ${failed.toLocaleString("en")} failed`;
  return (
    <figure>
      <Chart label={`Attempts. ${summary}`} times={times} series={series} />
      <figcaption class="quiet">
        {summary}. One bar per {stepText(stepSeconds)}, of at most 100 attempts; times in {zone}.
      </figcaption>
    </figure>
  );
}

export function attemptsIn({ steps }: LatencySteps): readonly [all: number, failed: number] {
  const sum = (name: "attempts" | "failed") => steps.reduce((all, step) => all + step[name], 0);
  return [sum("attempts"), sum("failed")];
}

/** Said instead of a chart. */
export function NoAttempts({
  range,
  what = "attempts",
}: {
  readonly range: string;
  readonly what?: string;
}) {
  return <Empty title={`No ${what} in the ${rangeOf(range).label.toLowerCase()}`} />;
}
