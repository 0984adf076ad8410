import { useState } from "preact/hooks";

import { paymentState } from "../../../booking/model/booking-state.ts";
import type { PaymentState } from "../../../booking/model/booking-words.ts";
import { CopyButton } from "../kit/copy.tsx";
import { LoadedDetail } from "../kit/layout.tsx";
import { useInterval, useNews } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { useName } from "../kit/names.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, money, type Of, Text, words } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import type { BookingDetail, User } from "../kit/wire.ts";

import { BookingChanges, FlightLink, isOpen, OpenOffer } from "./booking-changes.tsx";
import { BookingLife } from "./booking-life.tsx";
import { BookingMark, PaymentMark } from "./booking-mark.tsx";
import { dayText } from "./days.tsx";
import { type Offer, OfferForm, offers, offersFor } from "./offer-form.tsx";
import { Passengers } from "./passengers.tsx";
import { RecordRefund, RefundCorrection } from "./refund-actions.tsx";

const openPollMs = 3_000;

/** A booking and its life. */
export function BookingPane({ id, close }: { readonly id: string; readonly close: string }) {
  const [hasOffered, setOffered] = useState(false);
  const loaded = useLoad<BookingDetail>(`v1/api/bookings/${encodeURIComponent(id)}`);
  const { value, reload } = loaded;
  useNews(reload);
  // A failed payment and an offer that ends are no news.
  const isWaiting = value?.status === "held" || value?.changes?.some(isOpen) === true;
  useInterval(() => isWaiting && reload(), openPollMs);
  const user = useEmail(value?.userId ?? null);
  return (
    <LoadedDetail label="Booking" close={close} of={loaded}>
      {(booking) => (
        <article>
          <Header of={booking} done={reload} offered={() => setOffered(true)} />
          <OpenOffer booking={booking} acted={reload} isNew={hasOffered} />
          <Cards booking={booking} user={user} />
          <Passengers of={booking.passengers} />
          <BookingChanges booking={booking} acted={reload} />
          <h3 class="history">History</h3>
          <BookingLife booking={booking} user={user} />
          <p class="under history">
            <CopyButton label="Copy reference" text={() => booking.reference} isQuiet />
            <CopyButton label="Copy ID" text={() => booking.id} isQuiet />
          </p>
        </article>
      )}
    </LoadedDetail>
  );
}

interface ActedParts extends Of<BookingDetail> {
  /** Called after the booking was changed. */
  readonly done: () => void;
  /** Called before that, after an offer was made. */
  readonly offered: () => void;
}

function Header({ of: booking, done, offered }: ActedParts) {
  const [asked, setAsked] = useState<Offer | "refund" | null>(null);
  const possible = offersFor(booking);
  const close = () => setAsked(null);
  return (
    <header>
      <h2>
        Booking <span class="reference">{booking.reference}</span>
      </h2>
      <p class="under">
        <BookingMark of={booking.status} />
        <PaymentMark of={paymentOf(booking)} status={booking.status} />
      </p>
      <div class="actions">
        <RecordRefund of={booking} done={done} isMain />
        {possible.map((offer) => (
          <button key={offer} type="button" onClick={() => setAsked(offer)}>
            {offers[offer]}
          </button>
        ))}
        {booking.refund !== null && booking.refund.refunded > 0 && (
          <button type="button" onClick={() => setAsked("refund")}>
            Correct refund
          </button>
        )}
      </div>
      {asked === "refund" && <RefundCorrection of={booking} done={done} close={close} />}
      {asked !== null && asked !== "refund" && possible.includes(asked) && (
        <OfferForm
          key={asked}
          booking={booking}
          offer={asked}
          close={close}
          offered={() => {
            offered();
            done();
          }}
        />
      )}
    </header>
  );
}

/** The list shows the same: its server has the numbers, the page what was reported. */
function paymentOf({ status, expiresAt, payments, refund }: BookingDetail): PaymentState {
  const isPaid = payments.some((each) => each.status === "confirmed" || each.status === "changed");
  return paymentState({
    status: status === "flown" ? "confirmed" : status,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
    paidMinor: isPaid ? 0 : null,
    refundDueMinor: refund?.amount ?? 0,
    refundedMinor: refund?.refunded ?? 0,
  });
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
  const { flight, seats, flightChange } = booking;
  const { origin, destination, departureTime, departureLocal, arrivalLocal } = flight;
  return (
    <div class="booking-cards">
      <section>
        <h3>Flight</h3>
        <p class="large">
          {origin} → {destination}
        </p>
        <p>
          <FlightLink of={flight} />, {counted(seats, "seat")}
        </p>
        <p class="quiet" title={`Departs ${departureTime}`}>
          {dayText(departureLocal)}
          <br />
          {departureLocal.slice(11, 16)} – {arrivalLocal.slice(11, 16)}{" "}
          {!arrivalLocal.startsWith(departureLocal.slice(0, 10)) &&
            dayText(arrivalLocal).slice(0, 3)}{" "}
          local times
        </p>
        {flightChange !== undefined && <AirlineChange of={flightChange} />}
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
          <a href={writeRoute("people", booking.userId)}>
            <Text of={user ?? booking.userId} />
          </a>
        </p>
      </section>
    </div>
  );
}

/** How the airline changed the flight. */
function AirlineChange({ of: change }: Of<NonNullable<BookingDetail["flightChange"]>>) {
  const { previousDepartureTime, previousOrigin, previousDestination } = change;
  return (
    <>
      <p>
        {change.type === "flight.cancelled" ? "Cancelled" : "Changed"} by the airline{" "}
        <Time at={change.changedAt} />
      </p>
      <p class="quiet">
        Was {previousOrigin} → {previousDestination}, {dayText(previousDepartureTime)}{" "}
        {previousDepartureTime.slice(11, 16)} UTC
      </p>
    </>
  );
}

/** The history below has all; a payment can fail a hundred times. */
const maxReports = 5;

/** What was reported about the payment and the refund, each with its event. */
function Money({ of: booking }: Of<BookingDetail>) {
  const { payments, refund, status, expiresAt } = booking;
  const reports = [...payments, ...(refund?.payouts ?? [])].slice(-maxReports);
  return (
    <>
      {payments.length === 0 && (
        <p class="quiet">
          {expiresAt === undefined
            ? "Paid by card at booking, outside Skyhook"
            : status === "held"
              ? "Waiting for its payment"
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

const reportWords: Readonly<Record<string, string>> = {
  confirmed: "Paid",
  changed: "Paid",
  corrected: "Corrected to",
};

function Reported({ of: report }: Of<BookingDetail["payments"][number] | Payout>) {
  const { amount, currency, provider, eventId, status } = report;
  const name = useName(provider);
  const isKnown = amount !== null && currency !== null;
  return (
    <p>
      <a href={writeRoute("events", eventId)}>
        {reportWords[status] ?? words(status)}{" "}
        {isKnown ? money(amount, currency) : "an unreadable amount"}
        {status === "changed" && " for a change"}
      </a>{" "}
      by <Text of={provider === "bookings" ? "an admin" : name} />
    </p>
  );
}

/** `USD 0.00 of USD 499.50, pending`. The status is the API's: `pending` does not claim that money was paid. */
function refundText({ refund, cancellation, expiresAt }: BookingDetail): string | null {
  if (refund === null) return null;
  const { amount, refunded, currency, status } = refund;
  // A part that was cancelled before had a percentage of its own.
  const isOne = cancellation?.refund.amount === amount;
  if (expiresAt === undefined && cancellation !== null && isOne && refunded === 0) {
    return `${money(amount, currency)} (${cancellation.refund.percent} %), ${status}`;
  }
  if (amount === 0) return `${money(refunded, currency)}, none was due`;
  return `${money(refunded, currency)} of ${money(amount, currency)}, ${status}`;
}
