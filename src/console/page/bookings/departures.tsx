import { flightFilters } from "../../../booking/flights/flight-filters.ts";
import { Detail } from "../kit/layout.tsx";
import { apiQuery } from "../kit/list/filters.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, type Of, words } from "../kit/text.tsx";
import { Empty, Waiting, Wide } from "../kit/ui.tsx";
import type { DayDepartures } from "../kit/wire.ts";

import { dayText, startOf } from "./days.tsx";
import { Meter, percentSold, SoldMark, soldText } from "./seats-sold.tsx";

type Cabin = DayDepartures["departures"][number];
/** The cabins of a departure, in this order. */
const cabinClasses: readonly Cabin["cabinClass"][] = ["economy", "business", "first"];

interface Parts {
  /** As `2026-01-31`. */
  readonly date: string;
  /** With the filters of flights. */
  readonly query: URLSearchParams;
  /** The address of the list without the open day. */
  readonly close: string;
}

/** The departures of a day, earliest first. */
export function DeparturesPane({ date, query, close }: Parts) {
  const filters = apiQuery(query, flightFilters, []);
  const loaded = useLoad<DayDepartures>(`v1/flights/load/${encodeURIComponent(date)}?${filters}`);
  const { value } = loaded;
  return (
    <Detail label={`Departures on ${dayText(date)}`} close={close}>
      <h2>Departures on {dayText(date)}</h2>
      <Waiting for={loaded} what="departures" />
      {value?.departures.length === 0 && (
        <Empty title="No departures on this day">
          <p>
            <a href={close}>Show the other days</a>
          </p>
        </Empty>
      )}
      {value !== null && value.departures.length > 0 && <Table of={value} />}
    </Detail>
  );
}

function Table({ of: { date, departures, hasMore } }: Of<DayDepartures>) {
  const flights = [...Map.groupBy(departures, flightKey).values()];
  const classes = cabinClasses.filter((name) =>
    departures.some(({ cabinClass }) => cabinClass === name),
  );
  return (
    <>
      <p class="quiet">
        {hasMore
          ? "Showing the first 500 cabins."
          : `${counted(flights.length, "departure")}, ${soldText(totalOf(departures))} seats sold.`}{" "}
        The day is in UTC, local times are the origin's.
      </p>
      <Wide label="Departures">
        <table class="departures">
          <thead>
            <tr>
              <th>UTC</th>
              <th>Local</th>
              <th>Flight</th>
              <th>Route</th>
              {classes.map((name) => (
                <th key={name}>{words(name)}</th>
              ))}
              <th class="sales">All seats</th>
            </tr>
          </thead>
          <tbody>
            {flights.map((cabins) => (
              <Departure key={cabins[0]?.id} cabins={cabins} classes={classes} date={date} />
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

/** What the cabins of one departure share. */
const flightKey = ({ flightNumber, departureTime }: Cabin) => `${flightNumber} ${departureTime}`;

function totalOf(cabins: readonly Cabin[]) {
  return {
    sold: cabins.reduce((sum, { sold }) => sum + sold, 0),
    seats: cabins.reduce((sum, { seats }) => sum + seats, 0),
  };
}

interface DepartureParts extends Pick<Parts, "date"> {
  readonly cabins: readonly Cabin[];
  readonly classes: readonly Cabin["cabinClass"][];
}

function Departure({ cabins, classes, date }: DepartureParts) {
  const [first] = cabins;
  if (first === undefined) return null;
  const { departureTime, departureLocal, flightNumber, origin, destination } = first;
  const total = totalOf(cabins);
  return (
    <tr>
      <td class="utc quiet">
        <time dateTime={departureTime}>{departureTime.slice(11, 16)}</time>
      </td>
      <td class="local nowrap" title={departureLocal}>
        {departureLocal.slice(11, 16)}{" "}
        {!departureLocal.startsWith(date) && (
          <span class="quiet">{dayText(departureLocal).slice(0, 3)}</span>
        )}
      </td>
      <td class="flight mono">
        <Flight number={flightNumber} date={date} isSold={total.sold > 0} />
      </td>
      <td class="route mono nowrap">
        {origin} → {destination}
      </td>
      {classes.map((name) => (
        <td key={name} class={`cabin ${name}`}>
          <SeatsOf cabin={cabins.find(({ cabinClass }) => cabinClass === name)} />
        </td>
      ))}
      <td class="sales">
        <SoldMark of={total} part={percentSold(total)} />
      </td>
    </tr>
  );
}

function SeatsOf({ cabin }: { readonly cabin: Cabin | undefined }) {
  if (cabin === undefined) return <span class="quiet">–</span>;
  const isFull = cabin.sold > 0 && cabin.sold >= cabin.seats;
  const over = cabin.sold - cabin.seats;
  const full = over > 0 ? `Oversold by ${over}` : "Sold out";
  return (
    <>
      <span class="name">{words(cabin.cabinClass)}</span>
      <Meter of={cabin} />
      <span class={isFull ? "full" : "quiet"}>{isFull ? full : soldText(cabin)}</span>
      <More of={cabin} />
    </>
  );
}

/** For admins, the ID by which a booking can be changed to this cabin. */
function More({ of: { id } }: Of<Cabin>) {
  return isAdmin() ? <span class="more quiet">ID {id}</span> : null;
}

interface FlightParts extends Pick<Parts, "date"> {
  readonly number: string;
  readonly isSold: boolean;
}

/** For admins, a link to the bookings of the flight on this day. */
function Flight({ number, date, isSold }: FlightParts) {
  if (!isSold || !isAdmin()) return number;
  const departs = { departsFrom: startOf(date), departsTo: startOf(date, 1) };
  const query = new URLSearchParams({ flight: number, ...departs });
  return (
    <a href={writeRoute("bookings", null, query)} title={`Bookings on ${number}`}>
      {number}
    </a>
  );
}
