import type { Provider } from "./wire.ts";

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });

/** `3h ago`, `in 28s`; `just now` for less than two seconds. */
export function ago(time: Date, now: number): string {
  const seconds = Math.round((time.getTime() - now) / 1_000);
  const size = Math.abs(seconds);
  if (size < 2) return "just now";
  const [unit, length] = units.find(([, length]) => size >= length) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

/** `in 28s`, `now`, or `due 3h ago` while it waits for something else, such as an open circuit. */
export function dueText(time: Date, now: number): string {
  const text = ago(time, now);
  if (text === "just now") return "now";
  return time.getTime() < now ? `due ${text}` : text;
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const minute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** `Today`, `Yesterday`, `Tuesday 24 November 2026`. In the browser's time zone. */
export function dayOf(time: Date, now = new Date()): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (time.toDateString() === now.toDateString()) return "Today";
  if (time.toDateString() === yesterday.toDateString()) return "Yesterday";
  return day.format(time);
}

/** `14:03` */
export const clockTime = (time: Date): string => clock.format(time);

/** `24 Nov 2026, 14:03` */
export const dateAndTime = (time: Date): string => minute.format(time);

/** `0.4 ms`, `41 ms`, `41.9 s`: how long a request took. */
export function milliseconds(ms: number): string {
  const maximumFractionDigits = ms < 10 ? 1 : 0;
  return ms < 10_000
    ? `${ms.toLocaleString("en", { maximumFractionDigits })}\u00a0ms`
    : `${(ms / 1_000).toFixed(1)}\u00a0s`;
}

/** `26 h`, `20 min`, `3 d 4 h`: a duration in its largest units, with non-breaking spaces. */
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)}\u00a0s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)}\u00a0min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)}\u00a0h`;
  const hours = Math.round((seconds % 86_400) / 3_600);
  return `${Math.floor(seconds / 86_400)}\u00a0d${hours > 0 ? ` ${hours}\u00a0h` : ""}`;
}

/** `1 h 05 min`, `12 min 31 s`, `31 s`: what is left, at least `0 s`. */
export function timeLeft(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1_000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) {
    return `${Math.floor(minutes / 60)}\u00a0h ${String(minutes % 60).padStart(2, "0")}\u00a0min`;
  }
  const rest = `${seconds % 60}\u00a0s`;
  return minutes === 0 ? rest : `${minutes}\u00a0min ${rest.padStart(4, "0")}`;
}

type Activity = Pick<
  Provider,
  "silentForSeconds" | "usualIntervalSeconds" | "hasSecret" | "isSilent"
>;

/** `3m ago, usually every 20 min`, `No deliveries for 26 h, usually every 20 min` */
export function lastDelivery(
  { silentForSeconds, usualIntervalSeconds, hasSecret, isSilent }: Activity,
  now: number,
): string {
  if (!hasSecret) return "No secret set. Deliveries get 503.";
  if (silentForSeconds === null) return "No deliveries yet";
  const last = isSilent
    ? `No deliveries for ${span(silentForSeconds)}`
    : ago(new Date(now - silentForSeconds * 1_000), now);
  return usualIntervalSeconds === null
    ? last
    : `${last}, usually every ${span(usualIntervalSeconds)}`;
}
