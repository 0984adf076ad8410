import { LoadedDetail } from "../layout.tsx";
import { useInterval, useNews } from "../live.ts";
import { useLoad } from "../load.ts";
import { money, Mono, Text } from "../text.tsx";
import { ExactTime, Time } from "../time.tsx";
import { CopyButton, Facts, Wide } from "../ui.tsx";
import type { BookingDetail, User } from "../wire.ts";

import { BookingLife } from "./booking-life.tsx";
import { BookingMark } from "./booking-mark.tsx";

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
              <BookingMark of={booking.status} /> <Text of={booking.contactEmail} />{" "}
              <Time at={booking.createdAt} />
            </p>
            <div class="actions">
              <CopyButton label="Copy ID" text={() => booking.id} />
              <CopyButton label="Copy reference" text={() => booking.reference} />
            </div>
          </header>
          <BookingFacts booking={booking} user={user} />
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

interface FactsParts {
  readonly booking: BookingDetail;
  /** The booker's email address or id. */
  readonly user: string | null;
}

function BookingFacts({ booking, user }: FactsParts) {
  const { flight, passengers } = booking;
  return (
    <>
      <Facts
        of={[
          ["Booking ID", <Mono of={booking.id} />],
          [
            "Flight",
            `${flight.flightNumber} ${flight.origin} → ${flight.destination}, ${flight.cabinClass}`,
          ],
          ["Departs", <ExactTime at={flight.departureTime} />],
          ["Price", money(booking.totalPrice, booking.currency)],
          [
            "Booked by",
            <span title={booking.userId}>
              <Text of={user ?? booking.userId} />
            </span>,
          ],
          ["Paid", paidText(booking)],
          ["Refund", refundText(booking)],
        ]}
      />
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
    </>
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

/** `USD 499.50 by payment_processor`. Null if no payment confirmed it. */
function paidText({ payments, currency }: BookingDetail): string | null {
  const paid = payments.find(({ status }) => status === "confirmed");
  return paid === undefined ? null : `${money(paid.amount ?? 0, currency)} by ${paid.provider}`;
}
