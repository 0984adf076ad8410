import { bookingFilters } from "../../../booking/bookings/booking-filters.ts";
import { apiQuery, Filters } from "../kit/list/filters.tsx";
import { listView } from "../kit/list/list-view.tsx";
import { Count, timeColumn } from "../kit/list/rows.tsx";
import { TimeFilter } from "../kit/list/time-filter.tsx";
import { type Route, writeRoute } from "../kit/route.ts";
import { money, Mono, Text } from "../kit/text.tsx";
import { TimeLeft } from "../kit/time.tsx";
import { Empty } from "../kit/ui.tsx";
import type { BookingItem } from "../kit/wire.ts";

import { BookingMark } from "./booking-mark.tsx";
import { BookingPane } from "./booking-pane.tsx";
import { DepartsFrom, DepartsTo, localText } from "./days.tsx";

/** The Bookings view: find bookings and see their history. */
export const Bookings = listView<BookingItem>({
  view: "bookings",
  what: ["booking", "bookings"],
  path: (query, range) => `v1/api/bookings?${apiQuery(query, bookingFilters, range)}`,
  pollIntervalMs: 10_000,
  columns: [
    {
      head: "Status",
      at: "outcome",
      width: "148px",
      cell: ({ status, expiresAt }) => (
        <>
          <BookingMark of={status} />
          {status === "held" && expiresAt !== undefined && <TimeLeft until={expiresAt} />}
        </>
      ),
    },
    {
      head: "Booking",
      at: "title",
      cell: ({ reference, confirmationSentTo }) => (
        <>
          <Mono of={reference} />{" "}
          <span class="quiet">
            <Text of={confirmationSentTo} />
          </span>
        </>
      ),
    },
    {
      head: "Flight",
      at: "kind",
      width: "148px",
      look: "mono",
      cell: ({ flight }) => `${flight.flightNumber} ${flight.origin} → ${flight.destination}`,
    },
    {
      head: "Departs, local time",
      at: "departs",
      width: "184px",
      look: "quiet",
      isWideOnly: true,
      cell: ({ flight: { departureTime, departureLocal, origin } }) => (
        <time dateTime={departureTime} title={`${departureTime}\nShown in local time of ${origin}`}>
          {localText(departureLocal)}
        </time>
      ),
    },
    {
      head: "Seats",
      at: "seats",
      width: "40px",
      look: "number",
      cell: ({ seats }) => <Count of={seats} one="seat" />,
    },
    {
      head: "Price",
      at: "size",
      width: "136px",
      cell: ({ totalPrice, currency }) => money(totalPrice, currency),
    },
    { ...timeColumn("Booked"), width: "68px", isWideOnly: true },
  ],
  narrow: `"title outcome outcome" "kind seats size" / minmax(0, 1fr) auto auto`,
  filters: ({ route }) => (
    <Filters
      of={bookingFilters}
      route={route}
      controls={{
        q: { placeholder: "Reference, email or last name" },
        status: {},
        payment: {},
        flight: {},
        origin: {},
        destination: {},
        departsFrom: DepartsFrom,
        departsTo: DepartsTo,
        time: Booked,
      }}
    />
  ),
  noMatch: (query) => <NoMatch q={query.get("q")} />,
  empty: (
    <Empty title="No bookings yet">
      <p>New bookings appear here automatically.</p>
      <p>
        See which <a href={writeRoute("flights")}>flights</a> are for sale, or book one with the{" "}
        <a href="swagger">API</a>.
      </p>
    </Empty>
  ),
  detail: ({ id, close }) => <BookingPane id={id} close={close} />,
});

function Booked({ route }: { readonly route: Route }) {
  return <TimeFilter route={route} label="Booked" />;
}

function NoMatch({ q }: { readonly q: string | null }) {
  return (
    <Empty title={q === null ? "No bookings match" : `No bookings match “${q}”`}>
      {q !== null && (
        <p>
          The search compares whole values: a reference such as KXQWZA, an email address, a flight
          number, the last name of a passenger or a booking ID (bk_…).
        </p>
      )}
      <p>
        <a href={writeRoute("bookings")}>Show all bookings</a>
      </p>
    </Empty>
  );
}
