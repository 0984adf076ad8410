import { useMemo } from "preact/hooks";

import { SelectFilter } from "../filters.tsx";
import { Chart } from "../health/chart.tsx";
import { ListHead, Split } from "../list-pane.tsx";
import { useLoad } from "../load.ts";
import { go, type Route, writeRoute } from "../route.ts";
import { counted } from "../text.tsx";
import { Empty, ErrorMessage, Loading } from "../ui.tsx";
import type { FlightLoad, LoadDay } from "../wire.ts";

import { DeparturesPane } from "./departures.tsx";
import { percentSold, SeatsSold, SoldMark, soldText } from "./seats-sold.tsx";

/** Periods on offer, in days. */
const lengths = ["7", "14", "30", "60"] as const;
const preset = "14";
const longest = "60";

const hasDepartures = ({ departures }: LoadDay): boolean => departures > 0;

/** The Flights view: seats sold and capacity per day. A click on a day opens its departures. */
export function Flights({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const days = query.get("days") ?? preset;
  const { value, error, reload } = useLoad<FlightLoad>(
    `v1/flights/load?days=${encodeURIComponent(days)}`,
    { keep: true },
  );
  return (
    <Split
      title="Flights"
      filters={
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <SelectFilter
            route={route}
            name="days"
            label="Period"
            options={lengths}
            preset={preset}
            labelOf={(days) => `${days} days`}
          />
        </form>
      }
      list={
        <div class="list">
          {error !== null && <ErrorMessage error={error} retry={reload} />}
          {value === null && error === null && <Loading what="flights" />}
          {value !== null &&
            (value.days.some(hasDepartures) ? (
              <Load days={value.days} open={id} query={query} />
            ) : (
              <NoDepartures days={value.days.length} query={query} />
            ))}
        </div>
      }
      detail={
        id === null ? null : <DeparturesPane date={id} close={writeRoute("flights", null, query)} />
      }
    />
  );
}

function NoDepartures({ days, query }: { readonly days: number; readonly query: URLSearchParams }) {
  const isLongest = days >= Number(longest);
  const further = new URLSearchParams(query);
  further.set("days", longest);
  return (
    <Empty title={`No departures in the next ${counted(days, "day")}`}>
      {!isLongest && (
        <p>
          <a href={writeRoute("flights", null, further)}>Show {longest} days</a>
        </p>
      )}
      <p>{isLongest ? "To import flights, run:" : "Or import flights:"}</p>
      <pre>skyhook import flights.csv</pre>
    </Empty>
  );
}

interface LoadParts {
  readonly days: readonly LoadDay[];
  /** The open day, as `2026-01-31`. */
  readonly open: string | null;
  readonly query: URLSearchParams;
}

function Load({ days, open, query }: LoadParts) {
  const times = useMemo(
    () => days.map(({ date }) => Date.parse(`${date}T00:00:00Z`) / 1_000),
    [days],
  );
  const series = useMemo(
    () => [
      { name: "Sold", colour: "--series-1", values: days.map(({ sold }) => sold) },
      {
        name: "Available",
        colour: "--line-strong",
        values: days.map(({ seats, sold }) => seats - sold),
      },
    ],
    [days],
  );
  const sold = days.reduce((sum, day) => sum + day.sold, 0);
  const seats = days.reduce((sum, day) => sum + day.seats, 0);
  const label = `${sold} of ${seats} seats sold over ${counted(days.length, "day")}`;
  return (
    <>
      <figure class="load">
        <Chart
          label={label}
          times={times}
          series={series}
          isByDay
          pick={(index) => go("flights", days[index]?.date ?? null, query)}
        />
        <figcaption class="quiet">
          {soldText({ sold, seats })} seats sold ({percentSold({ sold, seats })}). Days are in UTC.
        </figcaption>
      </figure>
      <ListHead of="day" names={["Sales", "Day", "Load", "Seats sold", "Departures"]} />
      <ul class="rows">
        {runsOf(days).map(({ first, last }) =>
          hasDepartures(first) ? (
            <li key={first.date}>
              <Day day={first} isOpen={first.date === open} query={query} />
            </li>
          ) : (
            <li key={first.date} class="gap quiet">
              <span class="mono">
                {first === last ? first.date : `${first.date} – ${last.date}`}
              </span>{" "}
              No departures
            </li>
          ),
        )}
      </ul>
    </>
  );
}

interface DayParts {
  readonly day: LoadDay;
  readonly isOpen: boolean;
  readonly query: URLSearchParams;
}

function Day({ day, isOpen, query }: DayParts) {
  return (
    <a
      class="row day"
      href={writeRoute("flights", day.date, query)}
      data-row
      aria-current={isOpen ? "true" : undefined}
    >
      <span class="cell outcome">
        <SoldMark of={day} />
      </span>
      <span class="cell title">
        <span class="mono">{day.date}</span> <span class="quiet">{weekdayOf(day.date)}</span>
      </span>
      <span class="cell sold">
        <SeatsSold of={day} />
      </span>
      <span class="cell size number">{soldText(day)}</span>
      <span class="cell time number">
        {day.departures.toLocaleString("en")}
        <span class="unit"> {day.departures === 1 ? "departure" : "departures"}</span>
      </span>
    </a>
  );
}

const weekday = new Intl.DateTimeFormat("en", { weekday: "short", timeZone: "UTC" });

function weekdayOf(date: string): string {
  return weekday.format(new Date(`${date}T00:00:00Z`));
}

interface Run {
  readonly first: LoadDay;
  readonly last: LoadDay;
}

/** One run per day with departures, and one per sequence of days without. */
function runsOf(days: readonly LoadDay[]): readonly Run[] {
  const runs: Run[] = [];
  for (const day of days) {
    const before = runs.at(-1);
    if (before === undefined || hasDepartures(day) || hasDepartures(before.last)) {
      runs.push({ first: day, last: day });
    } else runs[runs.length - 1] = { first: before.first, last: day };
  }
  return runs;
}
