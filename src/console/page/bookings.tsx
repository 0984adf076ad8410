import { useRef } from "preact/hooks";

import { BookingPane } from "./booking-pane.tsx";
import { TextFilter } from "./filters.tsx";
import { ListPane, Split } from "./list-pane.tsx";
import { useList } from "./list.ts";
import { useInterval } from "./live.ts";
import { type Route, writeRoute } from "./route.ts";
import { counted, money, Text } from "./text.tsx";
import { Time } from "./time.tsx";
import { Empty, Status } from "./ui.tsx";
import type { BookingItem } from "./wire.ts";

const pollIntervalMs = 10_000;

/** The Bookings view: search for a booking and see its history. */
export function Bookings({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const scroller = useRef<HTMLDivElement>(null);
  const q = (query.get("q") ?? "").trim();
  const path = `v1/api/bookings${q === "" ? "" : `?q=${encodeURIComponent(q)}`}`;
  const list = useList<BookingItem>(path, () => (scroller.current?.scrollTop ?? 0) < 8);
  useInterval(list.refresh, pollIntervalMs);

  return (
    <Split
      title="Bookings"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <TextFilter
            route={route}
            name="q"
            label="Search"
            placeholder="ID, reference or email"
            options={[]}
          />
        </form>
      }
      list={
        <ListPane
          what={["booking", "bookings"]}
          list={list}
          scroller={scroller}
          open={id}
          query={query}
          empty={
            q === "" ? (
              <Empty title="No bookings yet" />
            ) : (
              <Empty title={`No bookings match “${q}”`}>
                <p>Search by exact booking ID (bk_…), six-letter reference or email address.</p>
                <p>
                  <a href={writeRoute("bookings")}>Show all bookings</a>
                </p>
              </Empty>
            )
          }
          row={(booking) => (
            <a
              class="row event"
              href={writeRoute("bookings", booking.id, query)}
              data-row
              aria-current={booking.id === id ? "true" : undefined}
            >
              <span class="cell time">
                <Time at={booking.createdAt} />
              </span>
              <span class="cell status">
                <Status of={booking.status} />
              </span>
              <span class="cell title">
                <span class="mono">{booking.reference}</span>{" "}
                <Text of={booking.confirmationSentTo} />
              </span>
              <span class="cell kind mono">
                {booking.flight.flightNumber} {booking.flight.origin} → {booking.flight.destination}
                , {counted(booking.seats, "seat")}, {money(booking.totalPrice, booking.currency)}
              </span>
            </a>
          )}
        />
      }
      detail={
        id === null ? null : <BookingPane id={id} close={writeRoute("bookings", null, query)} />
      }
    />
  );
}
