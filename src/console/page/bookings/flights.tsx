import { useMemo } from "preact/hooks";

import { flightFilters } from "../../../booking/flights/flight-filters.ts";
import { Chart } from "../kit/chart.tsx";
import { Split } from "../kit/layout.tsx";
import { apiQuery, Filters, SelectFilter } from "../kit/list/filters.tsx";
import { Count, ItemRow, RowList, type Rows } from "../kit/list/rows.tsx";
import { useLoad } from "../kit/load.ts";
import { go, type Route, writeRoute } from "../kit/route.ts";
import { counted } from "../kit/text.tsx";
import { Empty, Waiting } from "../kit/ui.tsx";
import type { FlightLoad, LoadDay } from "../kit/wire.ts";

import { dayText, FromDay } from "./days.tsx";
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
  const period = [
    ["days", days],
    ["from", query.get("from") ?? ""],
  ] as const;
  const path = `v1/flights/load?${apiQuery(query, flightFilters, period)}`;
  const loaded = useLoad<FlightLoad>(path, { keep: true });
  const { value } = loaded;
  return (
    <Split
      title="Flights"
      list={
        <div class="list">
          <Waiting for={loaded} what="flights" />
          {value !== null &&
            (value.days.some(hasDepartures) ? (
              <Load days={value.days} open={id} query={query} />
            ) : (
              <NoDepartures days={value.days.length} query={query} />
            ))}
        </div>
      }
      detail={
        id === null ? null : (
          <DeparturesPane date={id} query={query} close={writeRoute("flights", null, query)} />
        )
      }
    >
      <Filters
        of={flightFilters}
        route={route}
        controls={{ from: FromDay, days: Period, flight: {}, origin: {}, destination: {} }}
      />
    </Split>
  );
}

function Period({ route }: { readonly route: Route }) {
  return (
    <SelectFilter
      route={route}
      name="days"
      label="Period"
      options={lengths}
      preset={preset}
      labelOf={(days) => `${days} days`}
    />
  );
}

function NoDepartures({ days, query }: { readonly days: number; readonly query: URLSearchParams }) {
  const isLongest = days >= Number(longest);
  const isFiltered = Object.keys(flightFilters).some((name) => query.has(name));
  const further = new URLSearchParams(query);
  further.set("days", longest);
  return (
    <Empty title={`No departures in ${counted(days, "day")}`}>
      {!isLongest && (
        <p>
          <a href={writeRoute("flights", null, further)}>Show {longest} days</a>
        </p>
      )}
      {!isFiltered && <p>{isLongest ? "To import flights, run:" : "Or import flights:"}</p>}
      {!isFiltered && <pre>skyhook import flights.csv</pre>}
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
        values: days.map(({ seats, sold }) => Math.max(0, seats - sold)),
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
      <RowList of={dayRows}>
        {runsOf(days).map(({ first, last }) =>
          hasDepartures(first) ? (
            <li key={first.date}>
              <ItemRow of={dayRows} item={first} isOpen={first.date === open} query={query} />
            </li>
          ) : (
            <li key={first.date} class="gap quiet">
              {dayText(first.date)}
              {first !== last && ` – ${dayText(last.date)}`}: no departures
            </li>
          ),
        )}
      </RowList>
    </>
  );
}

const dayRows: Rows<LoadDay> = {
  what: ["day", "days"],
  columns: [
    { head: "Sales", at: "outcome", width: "116px", cell: (day) => <SoldMark of={day} /> },
    {
      head: "Day",
      at: "title",
      width: "164px",
      cell: ({ date }) => <time dateTime={date}>{dayText(date)}</time>,
    },
    { head: "Load", at: "sold", cell: (day) => <SeatsSold of={day} /> },
    { head: "Seats sold", at: "size", width: "132px", look: "number", cell: soldText },
    {
      head: "Cabins",
      at: "time",
      width: "84px",
      look: "number",
      cell: ({ departures }) => <Count of={departures} one="cabin" />,
    },
  ],
  narrow: `"title time outcome" "sold size size" / minmax(0, 1fr) auto auto`,
  address: ({ date }, query) => writeRoute("flights", date, query),
};

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
