import { useState } from "preact/hooks";

import { bookingFilters } from "../../../booking/bookings/booking-filters.ts";
import { apiQuery, FilterControls, Filters } from "../kit/list/filters.tsx";
import { listView } from "../kit/list/list-view.tsx";
import { Count, timeColumn } from "../kit/list/rows.tsx";
import { TimeFilter } from "../kit/list/time-filter.tsx";
import { filter } from "../kit/location.ts";
import { type Route, writeRoute } from "../kit/route.ts";
import { money, Mono, Text } from "../kit/text.tsx";
import { Time, TimeLeft } from "../kit/time.tsx";
import { Empty } from "../kit/ui.tsx";
import type { BookingItem } from "../kit/wire.ts";

import { BookingMark, PaymentMark } from "./booking-mark.tsx";
import { BookingPane } from "./booking-pane.tsx";
import { DepartsFrom, DepartsTo, localText } from "./days.tsx";
import { RecordRefund } from "./refund-actions.tsx";

interface ControlParts {
  readonly route: Route;
}

const due = "refund-due";

const dueText = ({ amount, refunded, currency }: NonNullable<BookingItem["refund"]>) =>
  money(amount - refunded, currency);

const { flight, origin, destination, departsFrom, departsTo, from, to, ...firstFilters } =
  bookingFilters;
const moreFilters = { flight, origin, destination, departsFrom, departsTo, from, to };

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
      width: "152px",
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
      cell: ({ reference, leadPassenger = "", confirmationSentTo }) => (
        <>
          <Mono of={reference} /> <Text of={leadPassenger} />{" "}
          <span class="quiet">
            <Text of={confirmationSentTo} />
          </span>
        </>
      ),
    },
    {
      head: "Flight",
      at: "kind",
      width: "200px",
      cell: ({ flight: { flightNumber, origin, destination, cabinClass } }) => (
        <>
          <Mono of={`${flightNumber} ${origin} → ${destination}`} /> {cabinClass}
        </>
      ),
    },
    {
      head: "Departs, local time",
      at: "departs",
      width: "144px",
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
      width: "112px",
      cell: ({ totalPrice, currency }) => money(totalPrice, currency),
    },
    {
      head: "Payment",
      at: "payment",
      width: "156px",
      cell: ({ payment, status, refund }) =>
        payment !== undefined && (
          <PaymentMark
            of={payment}
            status={status}
            due={payment === due ? refund && dueText(refund) : undefined}
          />
        ),
    },
    {
      ...timeColumn("Booked"),
      // The button has its place.
      cell: ({ createdAt, payment }) =>
        payment === due ? <span class="room" /> : <Time at={createdAt} />,
    },
  ],
  act: (booking, changed) =>
    booking.payment === due && <RecordRefund of={booking} done={changed} label="Record" />,
  narrow: `"title outcome outcome" "kind kind size" "payment seats time" / minmax(0, 1fr) auto auto`,
  filters: ({ route }) => (
    <Filters
      of={firstFilters}
      route={route}
      controls={{
        q: { placeholder: "Reference, email or last name" },
        refundsDue: RefundsDue,
        status: {},
        payment: {},
        more: MoreFilters,
      }}
    />
  ),
  noMatch: (query) => <NoMatch query={query} />,
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

/** The list as the desk works through it. */
function RefundsDue({ route }: ControlParts) {
  const isSet = route.query.get("payment") === due;
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={isSet}
      onClick={() => filter(route, "payment", isSet ? "" : due)}
    >
      Refunds due
    </button>
  );
}

const moreControls = {
  flight: {},
  origin: {},
  destination: {},
  departsFrom: DepartsFrom,
  departsTo: DepartsTo,
  since: Booked,
};

/** Of controls that set several parameters. */
const parametersOf: Readonly<Record<string, readonly string[]>> = {
  departsFrom: ["departsFrom", "departsTo"],
  since: ["since", "from", "to"],
};

/** Those that are set, and the others on demand. */
function MoreFilters({ route }: ControlParts) {
  const [isOpen, setOpen] = useState(false);
  const shown = Object.entries(moreControls).filter(
    ([name]) => isOpen || (parametersOf[name] ?? [name]).some((each) => route.query.has(each)),
  );
  return (
    <>
      <FilterControls of={moreFilters} route={route} controls={Object.fromEntries(shown)} />
      {!isOpen && (
        <button type="button" class="chip" onClick={() => setOpen(true)}>
          More filters
        </button>
      )}
    </>
  );
}

function Booked({ route }: ControlParts) {
  return <TimeFilter route={route} label="Booked" />;
}

function NoMatch({ query }: { readonly query: URLSearchParams }) {
  const q = query.get("q");
  if (query.size === 1 && query.get("payment") === due) return <Empty title="No refunds due" />;
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
