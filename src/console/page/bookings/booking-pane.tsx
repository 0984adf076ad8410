import { LoadedDetail } from "../layout.tsx";
import { useInterval, useNews } from "../live.ts";
import { useLoad } from "../load.ts";
import { useName } from "../names.ts";
import { writeRoute } from "../route.ts";
import { counted, money, Mono, type Of, Text, words } from "../text.tsx";
import { Time } from "../time.tsx";
import { CopyButton, Wide } from "../ui.tsx";
import type { BookingDetail, User } from "../wire.ts";

import { BookingLife } from "./booking-life.tsx";
import { BookingMark } from "./booking-mark.tsx";
import { dayText } from "./days.tsx";

const heldPollMs = 3_000;

/** A booking and its life. */
export function BookingPane({ id, close }: { readonly id: string; readonly close: string }) {
  const loaded = useLoad<BookingDetail>(`v1/api/bookings/${encodeURIComponent(id)}`);
  const { value, reload } = loaded;
  useNews(reload);
  // A failed payment is no news.
  useInterval(() => value?.status === "held" && reload(), heldPollMs);
  const user = useEmail(value?.userId ?? null);
  return (
    <LoadedDetail label="Booking" close={close} of={loaded}>
      {(booking) => (
        <article>
          <header>
            <h2>
              Booking <span class="reference">{booking.reference}</span>
            </h2>
            <p class="under">
              <BookingMark of={booking.status} /> <Mono of={booking.id} />
            </p>
            <div class="actions">
              <CopyButton label="Copy ID" text={() => booking.id} />
              <CopyButton label="Copy reference" text={() => booking.reference} />
            </div>
          </header>
          <Cards booking={booking} user={user} />
          <Passengers of={booking.passengers} />
          <h3 class="history">History</h3>
          <BookingLife booking={booking} user={user} />
        </article>
      )}
    </LoadedDetail>
  );
}

/** A user's email address; the user id while it is loading or if it cannot be loaded. */
function useEmail(userId: string | null): string | null {
  const path = userId === null ? null : `v1/users/${encodeURIComponent(userId)}`;
  const { value } = useLoad<User>(path);
  return value?.email ?? userId;
}

type Payout = NonNullable<BookingDetail["refund"]>["payouts"][number];

interface CardsParts {
  readonly booking: BookingDetail;
  /** The booker's email address or id. */
  readonly user: string | null;
}

function Cards({ booking, user }: CardsParts) {
  const { flight, seats } = booking;
  const { origin, destination, departureTime, departureLocal, arrivalLocal } = flight;
  const date = departureTime.slice(0, 10);
  const query = new URLSearchParams({ flight: flight.flightNumber });
  return (
    <div class="booking-cards">
      <section>
        <h3>Flight</h3>
        <p class="large">
          {origin} → {destination}
        </p>
        <p>
          <a href={writeRoute("flights", date, query)}>{flight.flightNumber}</a>,{" "}
          {flight.cabinClass}, {counted(seats, "seat")}
        </p>
        <p class="quiet" title={`Departs ${departureTime}`}>
          {dayText(departureLocal)}
          <br />
          {departureLocal.slice(11, 16)} – {arrivalLocal.slice(11, 16)}{" "}
          {!arrivalLocal.startsWith(departureLocal.slice(0, 10)) &&
            dayText(arrivalLocal).slice(0, 3)}{" "}
          local times
        </p>
      </section>
      <section>
        <h3>Payment</h3>
        <p class="large">{money(booking.totalPrice, booking.currency)}</p>
        <Money of={booking} />
      </section>
      <section>
        <h3>Contact</h3>
        <p>
          <Text of={booking.contactEmail} />
        </p>
        <p class="quiet">
          Booked <Time at={booking.createdAt} /> by{" "}
          <span title={booking.userId}>
            <Text of={user ?? booking.userId} />
          </span>
        </p>
      </section>
    </div>
  );
}

/** The history below has all; a payment can fail a hundred times. */
const maxReports = 5;

/** What providers reported about the payment and the refund, each with its event. */
function Money({ of: booking }: Of<BookingDetail>) {
  const { payments, refund, status, expiresAt } = booking;
  const reports = [...payments, ...(refund?.payouts ?? [])].slice(-maxReports);
  return (
    <>
      {payments.length === 0 && (
        <p class="quiet">
          {expiresAt === undefined
            ? "By card, without a hold: not reported by a webhook"
            : status === "held"
              ? "Waits for its payment"
              : "Not paid"}
        </p>
      )}
      {reports.map((report) => (
        <Reported key={`${report.eventId} ${report.status}`} of={report} />
      ))}
      {refund !== null && <p class="quiet">Refund: {refundText(booking)}</p>}
    </>
  );
}

function Reported({ of: report }: Of<BookingDetail["payments"][number] | Payout>) {
  const { amount, currency, provider, eventId, status } = report;
  const name = useName(provider);
  const isKnown = amount !== null && currency !== null;
  return (
    <p>
      <a href={writeRoute("events", eventId)}>
        {status === "confirmed" ? "Paid" : words(status)}{" "}
        {isKnown ? money(amount, currency) : "an unreadable amount"}
      </a>{" "}
      by <Text of={name} />
    </p>
  );
}

function Passengers({ of: passengers }: Of<BookingDetail["passengers"]>) {
  return (
    <Wide label="Passengers">
      <table class="passengers">
        <thead>
          <tr>
            <th>Passenger</th>
            <th>Email</th>
            <th>Passport</th>
          </tr>
        </thead>
        <tbody>
          {passengers.map((passenger, index) => (
            <tr key={index}>
              <td>
                <Text of={`${passenger.firstName} ${passenger.lastName}`} />
              </td>
              <td>
                <Text of={passenger.email} />
              </td>
              <td class="mono">{passenger.passportNumber}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

/** `USD 0.00 of USD 499.50, pending`. The status is the API's: `pending` does not claim that money was paid. */
function refundText({ refund, cancellation, expiresAt }: BookingDetail): string | null {
  if (refund === null) return null;
  const { amount, refunded, currency, status } = refund;
  // No provider reports the refund of a booking that was never held.
  if (expiresAt === undefined && cancellation !== null) {
    return `${money(amount, currency)} (${cancellation.refund.percent} %), ${status}`;
  }
  if (amount === 0) return `${money(refunded, currency)}, none was due`;
  return `${money(refunded, currency)} of ${money(amount, currency)}, ${status}`;
}
