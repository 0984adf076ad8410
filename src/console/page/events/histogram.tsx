import { useMemo, useState } from "preact/hooks";

import { dateAndTime } from "../durations.ts";
import { useInterval } from "../live.ts";
import { useLoad } from "../load.ts";
import { timesOf } from "../ranges.ts";
import { type Route, writeRoute } from "../route.ts";
import { counted } from "../text.tsx";
import { useTimeRange } from "../time-filter.tsx";
import type { Deliveries } from "../wire.ts";

const dayMs = 86_400_000;
const stepMs = 60_000;
const maxBars = 72;
/** The most that the statistics reach back. */
const maxDays = 30;
const pollIntervalMs = 15_000;

/** Deliveries over the chosen time. A bar leads to what was received in its time. */
export function Histogram({ route }: { readonly route: Route }) {
  const path = usePath(route.query);
  const { value, reload } = useLoad<Deliveries>(path, { keep: true });
  useInterval(reload, pollIntervalMs);
  const bars = useMemo(
    () => (value === null ? [] : barsOf(value, route.query.get("provider"))),
    [value, route.query.get("provider")],
  );
  const highest = Math.max(1, ...bars.map(({ accepted, rejected }) => accepted + rejected));
  const total = bars.reduce((sum, { accepted }) => sum + accepted, 0);
  return (
    <nav class="histogram" aria-label={`${counted(total, "delivery", "deliveries")} by time`}>
      {bars.map(({ from, to, accepted, rejected }) => (
        <a
          key={from}
          href={writeRoute(route.view, null, between(route.query, from, to))}
          tabIndex={-1}
          title={`${dateAndTime(new Date(from))}: ${accepted} received, ${rejected} rejected`}
        >
          <Bar count={accepted + rejected} of={highest} look="rejected" />
          <Bar count={accepted} of={highest} look="accepted" />
        </a>
      ))}
    </nav>
  );
}

interface BarParts {
  readonly count: number;
  readonly of: number;
  readonly look: string;
}

/** A path: its size needs no inline style, which the page's policy forbids. */
function Bar({ count, of: highest, look }: BarParts) {
  return (
    <svg class={look} viewBox={`0 0 1 ${highest}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={`M0 ${highest}v${-count}h1v${count}`} />
    </svg>
  );
}

/** The statistics of the period in the address, by default the last day. */
function usePath(query: URLSearchParams): string {
  const [nowMs, setNowMs] = useState(Date.now);
  useInterval(() => setNowMs(Date.now()), pollIntervalMs);
  const period = new Map(useTimeRange(query));
  const endMs = Date.parse(period.get("to") ?? "") || nowMs;
  const startMs = Date.parse(period.get("from") ?? "") || endMs - dayMs;
  const spanMs = Math.min(Math.max(endMs - startMs, stepMs), maxDays * dayMs);
  const step = Math.ceil(spanMs / maxBars / stepMs) * stepMs;
  const to = Math.ceil(endMs / step) * step;
  const from = to - Math.ceil(spanMs / step) * step;
  const [first, last] = [from, to].map((ms) => encodeURIComponent(new Date(ms).toISOString()));
  return `v1/statistics/deliveries?from=${first}&to=${last}&step=${step / 1_000}`;
}

function barsOf(deliveries: Deliveries, provider: string | null) {
  const stepLengthMs = deliveries.stepSeconds * 1_000;
  const series = deliveries.series.filter((one) => provider === null || one.provider === provider);
  const sum = (index: number, verdict: string) =>
    series.reduce((all, one) => all + (one.verdict === verdict ? (one.counts[index] ?? 0) : 0), 0);
  return timesOf(deliveries).map((seconds, index) => ({
    from: seconds * 1_000,
    to: seconds * 1_000 + stepLengthMs,
    accepted: sum(index, "accepted"),
    rejected: sum(index, "rejected"),
  }));
}

function between(query: URLSearchParams, from: number, to: number): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.set("since", "custom");
  changed.set("from", new Date(from).toISOString());
  changed.set("to", new Date(to).toISOString());
  return changed;
}
