import { useEffect, useState } from "preact/hooks";

import { ago } from "./durations.ts";

/** With the name of the reader's zone. */
const exact = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "long",
});

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
