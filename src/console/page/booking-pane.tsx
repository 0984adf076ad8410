import { Detail } from "./list-pane.tsx";
import { useLoad } from "./load.ts";
import { writeRoute } from "./route.ts";
import { money, Text } from "./text.tsx";
import { ExactTime, Time } from "./time.tsx";
import { CopyButton, Facts, Fault, Loading, Status, Wide } from "./ui.tsx";
import type { BookingDetail, BookingStep, User } from "./wire.ts";

/** A booking and its history. */
export function BookingPane({ id, close }: { readonly id: string; readonly close: string }) {
  const {
    value: booking,
    error,
    reload,
  } = useLoad<BookingDetail>(`v1/api/bookings/${encodeURIComponent(id)}`);
  const user = useAddress(booking?.userId ?? null);
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
          <BookingFacts booking={booking} user={user} />
          <h3 class="history">History</h3>
          <ol class="timeline">
            {booking.history.map((step) => (
              <Step
                key={`${step.at} ${step.type}`}
                step={step}
                by={step.actor === booking.userId ? user : step.actor}
              />
            ))}
          </ol>
        </article>
      )}
    </Detail>
  );
}

/** A user's e-mail address; the id as long as it is not known. */
function useAddress(userId: string | null): string | null {
  const path = userId === null ? null : `v1/users/${encodeURIComponent(userId)}`;
  const { value } = useLoad<User>(path);
  return value?.email ?? userId;
}

interface FactsParts {
  readonly booking: BookingDetail;
  /** Who booked. */
  readonly user: string | null;
}

function BookingFacts({ booking, user }: FactsParts) {
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
            "booked by",
            <span title={booking.userId}>
              <Text of={user ?? booking.userId} />
            </span>,
          ],
          ["refund", cancellation === null ? null : refundText(cancellation.refund)],
        ]}
      />
      <Wide label="Passengers">
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
      </Wide>
    </>
  );
}

type Refund = NonNullable<BookingDetail["cancellation"]>["refund"];

/** `USD 499.50 (100 %), pending`: whether it is paid back already is the API's word. */
function refundText({ amount, currency, percent, status }: Refund): string {
  return `${money(amount, currency)} (${percent} %), ${status}`;
}

interface StepParts {
  readonly step: BookingStep;
  /** Who did it, as far as it is known. */
  readonly by: string | null;
}

function Step({ step, by }: StepParts) {
  const { at, type, title, eventId, notifications } = step;
  return (
    <li class="step">
      <h3>
        <Text of={title} />
      </h3>
      <p class="quiet">
        <ExactTime at={at} /> <span class="mono">{type}</span>
        {by !== null && (
          <>
            {" "}
            by <Text of={by} />
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
