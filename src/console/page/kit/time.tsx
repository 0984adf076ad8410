import { useEffect, useState } from "preact/hooks";

import { ago, dueText, timeLeft } from "./durations.ts";

/** In the browser's time zone, with its name. */
const exact = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "long",
});

/** One timer updates all times on the page. */
const listeners = new Set<() => void>();
setInterval(() => {
  for (const listener of listeners) listener();
}, 1_000);

interface TimeProps {
  readonly at: string;
  /** The text for the present time in milliseconds. */
  readonly show?: (time: Date, now: number) => string;
}

/** A relative time. Its tooltip has the exact time, in UTC and in the browser's time zone. */
export function Time({ at, show = ago }: TimeProps) {
  const time = new Date(at);
  const textNow = () => show(time, Date.now());
  const [text, setText] = useState("");
  useEffect(() => {
    // Sets text, not the time: Preact renders only if it has changed, and a list may have thousands of times.
    const tick = () => setText(textNow());
    tick();
    listeners.add(tick);
    return () => void listeners.delete(tick);
  }, [at]);
  return (
    <time dateTime={at} title={`${at}\n${exact.format(time)} (local time)`}>
      {text || textNow()}
    </time>
  );
}

/** When something is due. */
export function DueTime({ at }: { readonly at: string }) {
  return <Time at={at} show={dueText} />;
}

/** A countdown. */
export function TimeLeft({ until }: { readonly until: string }) {
  return (
    <span class="left">
      <Time at={until} show={(time, now) => timeLeft(time.getTime() - now)} />
    </span>
  );
}

/** A time to the millisecond, for when the order within a second matters. */
export function ExactTime({ at }: { readonly at: string }) {
  return (
    <time class="mono" dateTime={at} title={`${exact.format(new Date(at))} (local time)`}>
      {at.replace("T", " ").replace(/(?:\.000)?Z$/, " UTC")}
    </time>
  );
}
