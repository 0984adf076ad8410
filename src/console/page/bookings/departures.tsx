import { flightFilters } from "../../../booking/flights/flight-filters.ts";
import { apiQuery } from "../kit/list/filters.tsx";
import { ItemRow, RowList, type Rows } from "../kit/list/rows.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, Mono, type Of, words } from "../kit/text.tsx";
import { Empty, Waiting } from "../kit/ui.tsx";
import type { DayDepartures } from "../kit/wire.ts";

import { dayText, startOf } from "./days.tsx";
import { SeatsSold, soldText } from "./seats-sold.tsx";

type Cabin = DayDepartures["departures"][number];
/** The cabins of a departure, in this order. */
const cabinClasses: readonly Cabin["cabinClass"][] = ["economy", "business", "first"];

interface Flight extends Pick<
  Cabin,
  "flightNumber" | "origin" | "destination" | "departureTime" | "departureLocal"
> {
  readonly cabins: readonly Cabin[];
}

interface Parts {
  /** As `2026-01-31`. */
  readonly date: string;
  /** With the filters of flights. */
  readonly query: URLSearchParams;
  /** The days with departures before and after this one, or null. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The flights of a day, earliest first. */
export function Departures({ date, query, before, after }: Parts) {
  const filters = apiQuery(query, flightFilters, []);
  const path = `v1/flights/load/${encodeURIComponent(date)}?${filters}`;
  const loaded = useLoad<DayDepartures>(path);
  const { value } = loaded;
  const linkTo = (day: string | null, text: string) =>
    day !== null && <a href={writeRoute("flights", day, query)}>{text}</a>;
  return (
    <section aria-label={`Flights on ${dayText(date)}`}>
      <header class="load actions">
        <h2>{dayText(date)}</h2>
        {linkTo(before, `← ${before && dayText(before)}`)}
        {linkTo(after, `${after && dayText(after)} →`)}
        {value !== null && <Summary of={value} />}
      </header>
      <Waiting for={loaded} what="flights" />
      {value?.departures.length === 0 && <Empty title="No departures on this day" />}
      {value !== null && value.departures.length > 0 && (
        <RowList of={rows}>
          {flightsOf(value).map((flight) => (
            <li key={flight.cabins[0]?.id}>
              <ItemRow of={rows} item={flight} isOpen={false} query={query} />
            </li>
          ))}
        </RowList>
      )}
    </section>
  );
}

function Summary({ of: { departures, hasMore }, of: day }: Of<DayDepartures>) {
  if (hasMore) return <span class="quiet">The first 500 cabins: filter by flight or route.</span>;
  return (
    <span class="quiet">
      {counted(flightsOf(day).length, "flight")}, {soldText(totalOf(departures))} seats sold
    </span>
  );
}

function flightsOf({ departures }: DayDepartures): readonly Flight[] {
  const key = ({ flightNumber, departureTime }: Cabin) => `${flightNumber} ${departureTime}`;
  return [...Map.groupBy(departures, key).values()].flatMap((found) => {
    const cabins = cabinClasses.flatMap((name) =>
      found.filter(({ cabinClass }) => cabinClass === name),
    );
    return cabins[0] === undefined ? [] : [{ ...cabins[0], cabins }];
  });
}

function totalOf(cabins: readonly Cabin[]) {
  return {
    sold: cabins.reduce((sum, { sold }) => sum + sold, 0),
    seats: cabins.reduce((sum, { seats }) => sum + seats, 0),
  };
}

const rows: Rows<Flight> = {
  what: ["departure", "departures"],
  columns: [
    {
      head: "Departs, UTC",
      at: "time",
      width: "88px",
      cell: ({ departureTime }) => (
        <time dateTime={departureTime}>{departureTime.slice(11, 16)}</time>
      ),
    },
    {
      head: "Local time",
      at: "departs",
      width: "80px",
      look: "quiet",
      isWideOnly: true,
      cell: ({ departureLocal, departureTime }) =>
        departureLocal.slice(0, 10) === departureTime.slice(0, 10)
          ? departureLocal.slice(11, 16)
          : `${departureLocal.slice(11, 16)} ${dayText(departureLocal).slice(0, 3)}`,
      tip: ({ departureLocal }) => departureLocal,
    },
    {
      head: "Flight",
      at: "title",
      width: "80px",
      cell: ({ flightNumber }) => <Mono of={flightNumber} />,
    },
    {
      head: "Route",
      at: "kind",
      width: "104px",
      look: "mono",
      cell: ({ origin, destination }) => `${origin} → ${destination}`,
    },
    {
      head: "Load",
      at: "sold",
      width: "132px",
      cell: ({ cabins }) => <SeatsSold of={totalOf(cabins)} />,
    },
    {
      head: "Seats sold",
      at: "seats",
      cell: ({ cabins }) => cabins.map((cabin) => <SeatsOf key={cabin.id} cabin={cabin} />),
    },
    { head: "", at: "size", width: "72px", cell: (flight) => <ToBookings of={flight} /> },
  ],
  narrow: `"title kind time" "sold sold size" "seats seats seats" / auto minmax(0, 1fr) auto`,
  address: () => null,
};

/** The tooltip has the ID for the API. */
function SeatsOf({ cabin }: { readonly cabin: Cabin }) {
  const { id, cabinClass, sold, seats } = cabin;
  const over = sold - seats;
  const full = over > 0 ? `Oversold by ${over}` : "Sold out";
  return (
    <span class="cabin" title={`Flight ID ${id}`}>
      {words(cabinClass)}{" "}
      {sold > 0 && over >= 0 ? <strong>{full}</strong> : <span>{soldText(cabin)}</span>}
    </span>
  );
}

/** For admins, a link to the bookings of the flight on this day, to move or cancel them. */
function ToBookings({ of: { flightNumber, departureTime, cabins } }: Of<Flight>) {
  if (totalOf(cabins).sold === 0 || !isAdmin()) return null;
  const date = departureTime.slice(0, 10);
  const departs = { departsFrom: startOf(date), departsTo: startOf(date, 1) };
  const query = new URLSearchParams({ flight: flightNumber, ...departs });
  return (
    <a
      href={writeRoute("bookings", null, query)}
      data-row
      title="Bookings of this flight, to change or cancel them"
      aria-label={`Bookings of ${flightNumber}`}
    >
      Bookings
    </a>
  );
}
