import { useState } from "preact/hooks";

import { useInterval } from "./live.ts";

/** The browser's time zone, which charts use: `Europe/Berlin`. */
export const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Length of the period and of one step, in seconds. */
export const ranges = {
  "1h": { label: "Last hour", seconds: 3_600, step: 60 },
  "6h": { label: "Last 6 hours", seconds: 6 * 3_600, step: 300 },
  "24h": { label: "Last 24 hours", seconds: 24 * 3_600, step: 900 },
  "7d": { label: "Last 7 days", seconds: 7 * 86_400, step: 7_200 },
} as const;

/** The period with this name; the last hour for an unknown name. */
export function rangeOf(name: string) {
  return name === "6h" || name === "24h" || name === "7d" ? ranges[name] : ranges["1h"];
}

const tickMs = 5_000;

/** The query of a period that ends now: `from=…&to=…&step=60`. */
export function useSpan(name: string, step: number = rangeOf(name).step): string {
  const range = { ...rangeOf(name), step };
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), tickMs);
  // Rounded to whole steps, so that the query changes only when a new step begins.
  const to = Math.floor(now / 1_000 / range.step + 1) * range.step;
  const time = (seconds: number) => encodeURIComponent(new Date(seconds * 1_000).toISOString());
  return `from=${time(to - range.seconds)}&to=${time(to)}&step=${range.step}`;
}

/** The start of each step, in seconds since the epoch. */
export function timesOf({
  from,
  to,
  stepSeconds,
}: {
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
}): readonly number[] {
  const start = Date.parse(from) / 1_000;
  const count = Math.round((Date.parse(to) / 1_000 - start) / stepSeconds);
  return Array.from({ length: count }, (_, index) => start + index * stepSeconds);
}

/** `minute`, `15 minutes`, `2 hours` */
export function stepText(stepSeconds: number): string {
  const minutes = stepSeconds / 60;
  if (minutes === 1) return "minute";
  return minutes < 60 ? `${minutes} minutes` : `${minutes / 60} hours`;
}
