import { useMemo } from "preact/hooks";

import { SelectFilter } from "./filters.tsx";
import { filterAll, type Route } from "./route.ts";

const hourMs = 3_600_000;
/** The choice that shows the fields of `from` and `to`. */
const chosen = "custom";

interface Period {
  readonly label: string;
  /** When the period starts, on the clock of this browser. */
  readonly startOf: (now: Date) => Date;
  /** When it ends, by default now. */
  readonly endOf?: (now: Date) => Date;
}

const lastHours = (hours: number, label: string): Period => ({
  label,
  startOf: (now) => new Date(now.getTime() - hours * hourMs),
});

const periods: Readonly<Record<string, Period>> = {
  "1h": lastHours(1, "Last hour"),
  "2h": lastHours(2, "Last 2 hours"),
  today: { label: "Today", startOf: (now) => lastTime(now, 0) },
  yesterday: {
    label: "Yesterday",
    startOf: (now) => dayBefore(lastTime(now, 0)),
    endOf: (now) => lastTime(now, 0),
  },
  noon: { label: "Since noon", startOf: (now) => lastTime(now, 12) },
  "24h": lastHours(24, "Last 24 hours"),
  "7d": lastHours(7 * 24, "Last 7 days"),
  "30d": lastHours(30 * 24, "Last 30 days"),
};

/** The last time that a clock in this time zone showed an hour: before noon, yesterday's noon. */
function lastTime(now: Date, hour: number): Date {
  const at = new Date(now);
  at.setHours(hour, 0, 0, 0);
  if (at > now) at.setDate(at.getDate() - 1);
  return at;
}

function dayBefore(time: Date): Date {
  const at = new Date(time);
  at.setDate(at.getDate() - 1);
  return at;
}

/** The parameters `from` and `to` that a view's address asks for. A period keeps the start that it has first. */
export function useTimeRange(query: URLSearchParams): readonly (readonly [string, string])[] {
  const [since, from, to] = ["since", "from", "to"].map((name) => query.get(name) ?? "");
  return useMemo(() => {
    const period = periods[since ?? ""];
    const start = period?.startOf(new Date()).toISOString() ?? from;
    const end = period?.endOf?.(new Date()).toISOString() ?? to;
    return Object.entries({ from: start, to: end }).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, value] as const],
    );
  }, [since, from, to]);
}

/** Chooses a period, or the times between which to look. */
export function TimeFilter({
  route,
  label = "Time",
}: {
  readonly route: Route;
  readonly label?: string;
}) {
  const { query } = route;
  const isRange = query.has("from") || query.has("to");
  const since = query.get("since") ?? (isRange ? chosen : "");
  return (
    <>
      <SelectFilter
        route={route}
        name="since"
        label={label}
        all="Any time"
        value={since}
        options={[...Object.keys(periods), chosen]}
        labelOf={(name) => (name === chosen ? "From … to …" : (periods[name]?.label ?? name))}
        onChoice={(value) => filterAll(route, { since: value, from: "", to: "" })}
      />
      {since === chosen && (
        <>
          <Instant route={route} name="from" label="From" />
          <Instant route={route} name="to" label="To" />
        </>
      )}
    </>
  );
}

interface InstantParts {
  readonly route: Route;
  readonly name: "from" | "to";
  readonly label: string;
}

/** In the time zone of this browser. The address has the time in UTC, so that a link means the same everywhere. */
function Instant({ route, name, label }: InstantParts) {
  return (
    <label class="chip set">
      <span class="label">{label}</span>
      <input
        type="datetime-local"
        value={localText(route.query.get(name) ?? "")}
        onChange={({ currentTarget: { value } }) =>
          filterAll(route, { since: chosen, [name]: value === "" ? "" : utcText(value) })
        }
      />
    </label>
  );
}

function utcText(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** An instant as a field of type `datetime-local` writes it; empty if it is none. */
function localText(instant: string): string {
  const at = new Date(instant);
  if (instant === "" || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
