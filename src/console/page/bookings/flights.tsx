import { useMemo } from "preact/hooks";

import { flightFilters } from "../../../booking/flights/flight-filters.ts";
import { Chart } from "../kit/chart.tsx";
import { commandOf } from "../kit/given.ts";
import { Split } from "../kit/layout.tsx";
import { apiQuery, Filters, SelectFilter } from "../kit/list/filters.tsx";
import { useLoad } from "../kit/load.ts";
import { go } from "../kit/location.ts";
import { type Route, writeRoute } from "../kit/route.ts";
import { counted } from "../kit/text.tsx";
import { Empty, Waiting } from "../kit/ui.tsx";
import type { FlightLoad, LoadDay } from "../kit/wire.ts";

import { FromDay } from "./days.tsx";
import { Departures } from "./departures.tsx";
import { percentSold, soldText } from "./seats-sold.tsx";

/** Periods on offer, in days. */
const lengths = ["7", "14", "30", "60"] as const;
const preset = "14";
const longest = "60";

const hasDepartures = ({ departures }: LoadDay): boolean => departures > 0;

/** The Flights view: seats sold and capacity per day, and the flights of a day. A click on a day shows its flights. */
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
  const dates = value?.days.filter(hasDepartures).map(({ date }) => date) ?? [];
  const date = id ?? dates[0];
  return (
    <Split
      title="Flights"
      list={
        // Focusable, so that the keyboard scrolls it: flights without bookings have no link.
        <div class="list" tabIndex={0} role="region" aria-label="Load and flights">
          <Waiting for={loaded} what="flights" />
          {value !== null && dates.length > 0 && <Load days={value.days} query={query} />}
          {value !== null && date === undefined && (
            <NoDepartures days={value.days.length} query={query} />
          )}
          {value !== null && date !== undefined && (
            <Departures
              date={date}
              query={query}
              before={dates.findLast((day) => day < date) ?? null}
              after={dates.find((day) => day > date) ?? null}
            />
          )}
        </div>
      }
      detail={null}
    >
      <Filters
        of={flightFilters}
        route={route}
        controls={{ flight: {}, origin: {}, destination: {}, from: FromDay, days: Period }}
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
      {!isFiltered && <pre>{commandOf("import flights.csv")}</pre>}
    </Empty>
  );
}

interface LoadParts {
  readonly days: readonly LoadDay[];
  readonly query: URLSearchParams;
}

function Load({ days, query }: LoadParts) {
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
    <figure class="load">
      <Chart
        label={label}
        times={times}
        series={series}
        isByDay
        pick={(index) => go("flights", days[index]?.date ?? null, query)}
      />
      <figcaption class="quiet">
        {soldText({ sold, seats })} seats sold ({percentSold({ sold, seats })}) over{" "}
        {counted(days.length, "day")}, in UTC.
      </figcaption>
    </figure>
  );
}
