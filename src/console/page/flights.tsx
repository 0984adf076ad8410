import { useMemo } from "preact/hooks";

import { Chart } from "./chart.tsx";
import { SelectFilter } from "./filters.tsx";
import { Detail, Split } from "./list-pane.tsx";
import { useLoad } from "./load.ts";
import { go, type Route, writeRoute } from "./route.ts";
import { Empty, Fault, Loading } from "./ui.tsx";
import type { DayDepartures, FlightLoad, LoadDay } from "./wire.ts";

/** Seats sold against capacity, day by day; a day opens its departures. */
export function Flights({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const days = query.get("days") ?? "14";
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
            label="Days"
            options={["7", "14", "30", "60"]}
            preset="14"
          />
        </form>
      }
      list={
        <div class="list">
          {error !== null && <Fault error={error} retry={reload} />}
          {value === null && error === null && <Loading what="the flights' load" />}
          {value !== null && value.days.every(({ seats }) => seats === 0) && (
            <Empty title="No flights depart in these days">
              <p>Bring some in:</p>
              <pre>skyhook import flights.csv</pre>
            </Empty>
          )}
          {value !== null && value.days.some(({ seats }) => seats > 0) && (
            <Load days={value.days} open={id} query={query} />
          )}
        </div>
      }
      detail={id === null ? null : <DayPane date={id} close={writeRoute("flights", null, query)} />}
    />
  );
}

interface LoadParts {
  readonly days: readonly LoadDay[];
  /** The day that is open. */
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
      { name: "sold", colour: "--series-1", values: days.map(({ sold }) => sold) },
      {
        name: "free",
        colour: "--line-strong",
        values: days.map(({ seats, sold }) => seats - sold),
      },
    ],
    [days],
  );
  const sold = days.reduce((sum, day) => sum + day.sold, 0);
  const seats = days.reduce((sum, day) => sum + day.seats, 0);
  const label = `${sold} of ${seats} seats sold in ${days.length} days`;
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
          {sold.toLocaleString("en")} of {seats.toLocaleString("en")} seats sold (
          {percent(sold, seats)}). Days are in UTC.
        </figcaption>
      </figure>
      <ul class="rows">
        {days.map((day) => (
          <li key={day.date}>
            <a
              class="row day"
              href={writeRoute("flights", day.date, query)}
              data-row
              aria-current={day.date === open ? "true" : undefined}
            >
              <span class="mono">{day.date}</span>
              <Share sold={day.sold} seats={day.seats} />
              <span class="quiet number">{day.departures} departures</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function DayPane({ date, close }: { readonly date: string; readonly close: string }) {
  const { value, error, reload } = useLoad<DayDepartures>(
    `v1/flights/load/${encodeURIComponent(date)}`,
  );
  return (
    <Detail label={`Departures of ${date}`} close={close}>
      <h2>Departures of {date}</h2>
      {error !== null && <Fault error={error} retry={reload} />}
      {value === null && error === null && <Loading what="departures" />}
      {value?.departures.length === 0 && <Empty title="No departures on this day" />}
      {value !== null && value.departures.length > 0 && (
        <div class="scroll-x">
          <table class="departures">
            <thead>
              <tr>
                <th>UTC</th>
                <th>Flight</th>
                <th>Route</th>
                <th>Cabin</th>
                <th>Sold</th>
              </tr>
            </thead>
            <tbody>
              {value.departures.map((departure) => (
                <tr key={departure.id}>
                  <td class="mono">{departure.departureTime.slice(11, 16)}</td>
                  <td class="mono">{departure.flightNumber}</td>
                  <td class="mono nowrap">
                    {departure.origin} → {departure.destination}
                  </td>
                  <td>{departure.cabinClass}</td>
                  <td>
                    <Share sold={departure.sold} seats={departure.seats} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value?.hasMore === true && <p class="quiet">Only the first 500 are shown.</p>}
    </Detail>
  );
}

/** A part of a whole, as a bar and in numbers. */
function Share({ sold, seats }: { readonly sold: number; readonly seats: number }) {
  return (
    <span class="share">
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${seats === 0 ? 0 : (sold / seats) * 100}%` }} />
      </span>
      <span class="number">
        {sold.toLocaleString("en")} / {seats.toLocaleString("en")} · {percent(sold, seats)}
      </span>
    </span>
  );
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round((part / whole) * 100)} %`;
}
