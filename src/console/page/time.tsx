import { useEffect, useState } from "preact/hooks";

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });
const exact = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "medium",
});

/** `3h ago`, `in 28s`; `just now` within a second. */
export function ago(time: Date, now: number): string {
  const seconds = Math.round((time.getTime() - now) / 1_000);
  const size = Math.abs(seconds);
  if (size < 2) return "just now";
  const [unit, length] = units.find(([, length]) => size >= length) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

/** `26 h`, `20 min`, `3 d 4 h`: a length of time in its largest units, which no line break parts. */
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)}\u00a0s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)}\u00a0min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)}\u00a0h`;
  const hours = Math.round((seconds % 86_400) / 3_600);
  return `${Math.floor(seconds / 86_400)}\u00a0d${hours > 0 ? ` ${hours}\u00a0h` : ""}`;
}

/** One timer for all times on the page. */
const watchers = new Set<() => void>();
setInterval(() => {
  for (const watcher of watchers) watcher();
}, 1_000);

/** A time as people say it; the exact one in the title, in UTC and where the reader is. */
export function Time({ at }: { readonly at: string }) {
  const time = new Date(at);
  const [text, setText] = useState("");
  useEffect(() => {
    // Drawn anew only when it reads otherwise: there may be thousands.
    const tick = () => setText(ago(new Date(at), Date.now()));
    tick();
    watchers.add(tick);
    return () => void watchers.delete(tick);
  }, [at]);
  return (
    <time dateTime={at} title={`${at}\n${exact.format(time)} here`}>
      {text || ago(time, Date.now())}
    </time>
  );
}

/** The time of day to the millisecond, where the order of things within a second counts. */
export function ExactTime({ at }: { readonly at: string }) {
  return (
    <time class="mono" dateTime={at} title={`${exact.format(new Date(at))} here`}>
      {at.replace("T", " ").replace(/(?:\.000)?Z$/, " UTC")}
    </time>
  );
}
