import { useLayoutEffect, useRef } from "preact/hooks";

import { ActionButton, attempt, Confirmed } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, money, type Of, Text } from "../kit/text.tsx";
import { Time, TimeLeft } from "../kit/time.tsx";
import { notify, Status } from "../kit/ui.tsx";
import type { BookingChange, BookingDetail } from "../kit/wire.ts";

import { localText } from "./days.tsx";

export const isOpen = ({ status }: BookingChange): boolean =>
  status === "offered" || status === "pending";

interface Parts {
  readonly booking: BookingDetail;
  /** Called after an offer was confirmed or withdrawn. */
  readonly acted: () => void;
  /** Whether an offer was just made: its first answer gets the focus that the form had. */
  readonly isNew?: boolean;
}

/** The offer to answer. */
export function OpenOffer({ booking, ...parts }: Parts) {
  return <Cards of={booking.changes?.filter(isOpen) ?? []} booking={booking} {...parts} />;
}

/** The changes that were made of a booking, newest first, and the offers that ended. */
export function BookingChanges({ booking, acted }: Parts) {
  const changes = booking.changes ?? [];
  const made = changes.filter(({ status }) => status === "confirmed");
  const ended = changes.filter((change) => !isOpen(change) && !made.includes(change));
  return (
    <>
      {made.length + ended.length > 0 && <h3 class="history">Changes</h3>}
      <Cards of={made} booking={booking} acted={acted} />
      {ended.length > 0 && (
        <details>
          <summary>{counted(ended.length, "offer")} not taken</summary>
          <Cards of={ended} booking={booking} acted={acted} />
        </details>
      )}
    </>
  );
}

function Cards({ of: changes, ...parts }: Parts & Of<readonly BookingChange[]>) {
  if (changes.length === 0) return null;
  return (
    <div class="booking-cards">
      {changes.map((change) => (
        <Change key={change.id} of={change} {...parts} />
      ))}
    </div>
  );
}

function Change({ of: change, ...parts }: Parts & Of<BookingChange>) {
  const { booking } = parts;
  const { flight, newFlight, previousTotal, newTotal, penalty, currency, status } = change;
  return (
    <section>
      <h3>{newFlight === null ? "Cancellation" : "Change of flight"}</h3>
      <p class="large">
        {newFlight === null ? (
          <Text of={cancelledNames(change, booking)} />
        ) : (
          <>
            <FlightLink of={flight} /> → <FlightLink of={newFlight} />
          </>
        )}
      </p>
      {newFlight !== null && (
        <p class="quiet">
          {localText(flight.departureLocal)} → {localText(newFlight.departureLocal)}
        </p>
      )}
      <p>
        {money(previousTotal, currency)} → {money(newTotal, currency)}
        {penalty !== 0 && `, penalty ${money(penalty, currency)}`}
      </p>
      <p>{balanceText(change)}</p>
      <p class="quiet">
        <Text of={change.reason} />
      </p>
      <p class="under">
        <Status of={status} />
        {isOpen(change) ? (
          <span>
            Ends in <TimeLeft until={change.expiresAt} />
          </span>
        ) : (
          <Time at={change.confirmedAt ?? change.createdAt} />
        )}
      </p>
      {isOpen(change) && <Answers of={change} {...parts} />}
    </section>
  );
}

/** A flight's number, with a link to its day in the Flights view, and the cabin. */
export function FlightLink({ of: flight }: Of<BookingDetail["flight"]>) {
  const { flightNumber, departureTime, cabinClass } = flight;
  const query = new URLSearchParams({ flight: flightNumber });
  return (
    <>
      <a href={writeRoute("flights", departureTime.slice(0, 10), query)}>{flightNumber}</a>{" "}
      {cabinClass}
    </>
  );
}

function cancelledNames({ passengers }: BookingChange, booking: BookingDetail): string {
  const named = passengers.flatMap((position) => booking.passengers[position - 1] ?? []);
  return named.map(({ firstName, lastName }) => `${firstName} ${lastName}`).join(", ");
}

function balanceText({ changeTotal, currency, status }: BookingChange): string {
  if (changeTotal === 0) return "Nothing to pay or refund";
  if (changeTotal < 0) return `${money(-changeTotal, currency)} to refund`;
  return `${money(changeTotal, currency)} ${status === "confirmed" ? "paid" : "to pay"}`;
}

/** Confirms or discards an open offer. One that waits for its payment was confirmed already. */
function Answers({ of: change, booking, acted, isNew = false }: Of<BookingChange> & Parts) {
  const { id, status } = change;
  const answers = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => void (isNew && answers.current?.querySelector("button")?.focus()), []);
  const path = `v1/api/bookings/${encodeURIComponent(booking.id)}/changes/${encodeURIComponent(id)}`;
  const confirm = async () => {
    const made = await callApi<BookingChange>(`${path}/confirm`, { method: "POST" });
    notify(made.status === "pending" ? "Confirmed. Waits for its payment." : "Booking changed");
    acted();
  };
  const withdraw = async () => {
    await callApi(path, { method: "DELETE" });
    notify("The booking stays as it is");
    acted();
  };
  if (status === "offered") {
    return (
      <>
        <p class="quiet">{consequenceOf(change)}</p>
        <div class="actions" ref={answers}>
          <ActionButton label={actionOf(change, booking)} act={confirm} isMain />
          <ActionButton label="Discard" act={withdraw} />
        </div>
      </>
    );
  }
  return (
    <div class="actions">
      <Confirmed
        label="Withdraw"
        title="Withdraw this change?"
        text="The booking stays as it is. Its payment may be on the way: if it arrives later, give it back."
        confirm={() => void attempt("Withdraw", withdraw)}
      />
    </div>
  );
}

/** What confirming an offer does. */
function actionOf({ newFlight, passengers }: BookingChange, { seats }: BookingDetail): string {
  if (newFlight !== null) return `Change to ${newFlight.flightNumber}`;
  return passengers.length === seats
    ? "Cancel booking"
    : `Cancel ${counted(passengers.length, "passenger")}`;
}

function consequenceOf({ changeTotal, flight }: BookingChange): string {
  return changeTotal > 0
    ? "The change is made when the payment arrives."
    : `The seats on ${flight.flightNumber} are released at once. It cannot be undone.`;
}
