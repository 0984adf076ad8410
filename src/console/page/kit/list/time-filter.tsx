import { useMemo } from "preact/hooks";

import { filterAll } from "../location.ts";
import { ranges } from "../ranges.ts";
import { type Route } from "../route.ts";

import { SelectFilter } from "./filters.tsx";

/** The choice that shows the fields of `from` and `to`. */
const chosen = "custom";

/** They end now. */
const periods: Readonly<Record<string, { readonly label: string; readonly seconds: number }>> = {
  ...ranges,
  "30d": { label: "Last 30 days", seconds: 30 * 86_400 },
};

/** The parameters `from` and `to` that a view's address asks for. A period keeps the start that it has first. */
export function useTimeRange(query: URLSearchParams): readonly (readonly [string, string])[] {
  const [since = "", from, to] = ["since", "from", "to"].map((name) => query.get(name) ?? "");
  return useMemo(() => {
    const seconds = periods[since]?.seconds;
    const start =
      seconds === undefined ? from : new Date(Date.now() - seconds * 1_000).toISOString();
    return Object.entries({ from: start, to }).flatMap(([name, value]) =>
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
