import { Detail } from "../layout.tsx";
import { useLoad } from "../load.ts";
import { writeRoute } from "../route.ts";
import { canSeeBookings } from "../session/session.ts";
import { counted, type Of, words } from "../text.tsx";
import { Empty, Waiting, Wide } from "../ui.tsx";
import type { DayDepartures } from "../wire.ts";

import { SeatsSold, SoldMark, soldText } from "./seats-sold.tsx";

interface Parts {
  /** As `2026-01-31`. */
  readonly date: string;
  /** The address of the list without the open day. */
  readonly close: string;
}

/** The departures of a day, earliest first. */
export function DeparturesPane({ date, close }: Parts) {
  const loaded = useLoad<DayDepartures>(`v1/flights/load/${encodeURIComponent(date)}`);
  const { value } = loaded;
  return (
    <Detail label={`Departures on ${date}`} close={close}>
      <h2>Departures on {date}</h2>
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

function Table({ of: { departures, hasMore } }: Of<DayDepartures>) {
  const sold = departures.reduce((sum, departure) => sum + departure.sold, 0);
  const seats = departures.reduce((sum, departure) => sum + departure.seats, 0);
  return (
    <>
      <p class="quiet">
        {hasMore
          ? "Showing the first 500 departures."
          : `${counted(departures.length, "departure")}, ${soldText({ sold, seats })} seats sold.`}{" "}
        Times are in UTC.
      </p>
      <Wide label="Departures">
        <table class="departures">
          <thead>
            <tr>
              <th>Time</th>
              <th>Flight</th>
              <th>Route</th>
              <th>Cabin</th>
              <th>Load</th>
              <th class="number">Sold</th>
              <th class="sales">Sales</th>
            </tr>
          </thead>
          <tbody>
            {departures.map((departure) => (
              <tr key={departure.id}>
                <td class="mono">
                  <time dateTime={departure.departureTime}>
                    {departure.departureTime.slice(11, 16)}
                  </time>
                </td>
                <td class="mono">
                  <Flight number={departure.flightNumber} isSold={departure.sold > 0} />
                </td>
                <td class="mono nowrap">
                  {departure.origin} → {departure.destination}
                </td>
                <td class="quiet">{words(departure.cabinClass)}</td>
                <td>
                  <SeatsSold of={departure} />
                </td>
                <td class="number quiet">{soldText(departure)}</td>
                <td class="sales">
                  <SoldMark of={departure} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

/** For admins, a link to the bookings of all flights with this number. */
function Flight({ number, isSold }: { readonly number: string; readonly isSold: boolean }) {
  if (!isSold || !canSeeBookings()) return number;
  const query = new URLSearchParams({ q: number });
  return (
    <a href={writeRoute("bookings", null, query)} title={`Bookings on ${number}`}>
      {number}
    </a>
  );
}
