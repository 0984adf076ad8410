import { Detail } from "./list-pane.tsx";
import { useLoad } from "./load.ts";
import { writeRoute } from "./route.ts";
import { money, Text } from "./text.tsx";
import { ExactTime, Time } from "./time.tsx";
import { CopyButton, Facts, Fault, Loading, Status } from "./ui.tsx";
import type { BookingDetail, BookingStep } from "./wire.ts";

/** A booking and its history. */
export function BookingPane({ id, close }: { readonly id: string; readonly close: string }) {
  const {
    value: booking,
    error,
    reload,
  } = useLoad<BookingDetail>(`v1/bookings/${encodeURIComponent(id)}`);
  return (
    <Detail label="Booking" close={close}>
      {booking === null && error !== null && <Fault error={error} retry={reload} />}
      {booking === null && error === null && <Loading what="the booking" />}
      {booking !== null && (
        <article>
          <header>
            <h2>
              Booking <span class="reference">{booking.reference}</span>
            </h2>
            <p class="under">
              <Status of={booking.status} /> <Text of={booking.contactEmail} />{" "}
              <Time at={booking.createdAt} />
            </p>
            <div class="actions">
              <CopyButton label="Copy id" text={() => booking.id} />
              <CopyButton label="Copy reference" text={() => booking.reference} />
            </div>
          </header>
          <BookingFacts booking={booking} />
          <h3 class="history">History</h3>
          <ol class="timeline">
            {booking.history.map((step) => (
              <Step key={`${step.at} ${step.type}`} step={step} />
            ))}
          </ol>
        </article>
      )}
    </Detail>
  );
}

function BookingFacts({ booking }: { readonly booking: BookingDetail }) {
  const { flight, passengers, cancellation } = booking;
  return (
    <>
      <Facts
        of={[
          ["id", <span class="mono">{booking.id}</span>],
          [
            "flight",
            `${flight.flightNumber} ${flight.origin} → ${flight.destination}, ${flight.cabinClass}`,
          ],
          ["departs", <ExactTime at={flight.departureTime} />],
          ["price", money(booking.totalPrice, booking.currency)],
          [
            "user",
            <span class="mono">
              <Text of={booking.userId} />
            </span>,
          ],
          [
            "paid back",
            cancellation === null
              ? null
              : `${money(cancellation.refund.amount, cancellation.refund.currency)} (${cancellation.refund.percent} %)`,
          ],
        ]}
      />
      <div class="scroll-x">
        <table class="passengers">
          <thead>
            <tr>
              <th>Passenger</th>
              <th>E-mail</th>
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
      </div>
    </>
  );
}

function Step({ step }: { readonly step: BookingStep }) {
  const { at, type, title, actor, eventId, notifications } = step;
  return (
    <li class="step">
      <h3>
        <Text of={title} />
      </h3>
      <p class="quiet">
        <ExactTime at={at} /> <span class="mono">{type}</span>
        {actor !== null && (
          <>
            {" "}
            by <Text of={actor} />
          </>
        )}
      </p>
      {(eventId !== null || notifications.length > 0) && (
        <p class="under">
          {notifications.map((told) => (
            <Status key={told.id} of={told.status} />
          ))}
          {eventId !== null && <a href={writeRoute("events", eventId)}>Event and notifications</a>}
        </p>
      )}
    </li>
  );
}
