import { TextFilter } from "../filters.tsx";
import { ListPane, Split } from "../list-pane.tsx";
import { useList } from "../list.ts";
import { type Route, writeRoute } from "../route.ts";
import { money, Text } from "../text.tsx";
import { Time, TimeLeft } from "../time.tsx";
import { Empty } from "../ui.tsx";
import type { BookingItem } from "../wire.ts";

import { BookingMark } from "./booking-mark.tsx";
import { BookingPane } from "./booking-pane.tsx";

const pollIntervalMs = 10_000;

/** The Bookings view: search for a booking and see its history. */
export function Bookings({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const q = (query.get("q") ?? "").trim();
  const path = `v1/api/bookings${q === "" ? "" : `?q=${encodeURIComponent(q)}`}`;
  const list = useList<BookingItem>(path, pollIntervalMs);

  return (
    <Split
      title="Bookings"
      filters={
        <form class="filters wide" role="search" onSubmit={(event) => event.preventDefault()}>
          <TextFilter
            route={route}
            name="q"
            label="Search"
            placeholder="Reference, email, flight or last name"
            options={[]}
          />
          {q !== "" && <a href={writeRoute("bookings", id)}>Clear search</a>}
        </form>
      }
      list={
        <ListPane
          what={["booking", "bookings"]}
          list={list}
          open={id}
          query={query}
          head={["Status", "Booking", "Flight", "Departs", "Seats", "Price", "Booked"]}
          empty={q === "" ? <NoBookings /> : <NoMatch q={q} />}
          row={(booking) => (
            <Row
              booking={booking}
              href={writeRoute("bookings", booking.id, query)}
              isOpen={booking.id === id}
            />
          )}
        />
      }
      detail={
        id === null ? null : <BookingPane id={id} close={writeRoute("bookings", null, query)} />
      }
    />
  );
}

interface RowParts {
  readonly booking: BookingItem;
  readonly href: string;
  readonly isOpen: boolean;
}

function Row({ booking, href, isOpen }: RowParts) {
  const { flight, status, expiresAt, seats } = booking;
  return (
    <a class="row booking" href={href} data-row aria-current={isOpen ? "true" : undefined}>
      <span class="cell outcome">
        <BookingMark of={status} />
        {status === "held" && expiresAt !== undefined && <TimeLeft until={expiresAt} />}
      </span>
      <span class="cell title">
        <span class="mono">{booking.reference}</span>{" "}
        <span class="quiet">
          <Text of={booking.confirmationSentTo} />
        </span>
      </span>
      <span class="cell kind mono">
        {flight.flightNumber} {flight.origin} → {flight.destination}
      </span>
      <span class="cell departs">
        <time class="mono" dateTime={flight.departureTime} title={`${flight.departureTime} (UTC)`}>
          {flight.departureTime.slice(0, 10)}
        </time>
      </span>
      <span class="cell seats number">
        {seats}
        <span class="unit"> {seats === 1 ? "seat" : "seats"}</span>
      </span>
      <span class="cell size">{money(booking.totalPrice, booking.currency)}</span>
      <span class="cell time">
        <Time at={booking.createdAt} />
      </span>
    </a>
  );
}

function NoBookings() {
  return (
    <Empty title="No bookings yet">
      <p>New bookings appear here automatically.</p>
      <p>
        See which <a href={writeRoute("flights")}>flights</a> are for sale, or book one with the{" "}
        <a href="swagger">API</a>.
      </p>
    </Empty>
  );
}

function NoMatch({ q }: { readonly q: string }) {
  return (
    <Empty title={`No bookings match “${q}”`}>
      <p>
        The search compares whole values: a reference such as KXQWZA, an email address, a flight
        number, the last name of a passenger or a booking ID (bk_…).
      </p>
      <p>
        <a href={writeRoute("bookings")}>Show all bookings</a>
      </p>
    </Empty>
  );
}
