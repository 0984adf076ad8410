import { Detail } from "./list-pane.tsx";
import { useLoad } from "./load.ts";
import { writeRoute } from "./route.ts";
import { money, Text } from "./text.tsx";
import { ExactTime, Time } from "./time.tsx";
import { CopyButton, Facts, ErrorMessage, Loading, Status, Wide } from "./ui.tsx";
import type { BookingDetail, HistoryEntry, User } from "./wire.ts";

/** A booking and its history. */
export function BookingPane({ id, close }: { readonly id: string; readonly close: string }) {
  const {
    value: booking,
    error,
    reload,
  } = useLoad<BookingDetail>(`v1/api/bookings/${encodeURIComponent(id)}`);
  const user = useEmail(booking?.userId ?? null);
  return (
    <Detail label="Booking" close={close}>
      {booking === null && error !== null && <ErrorMessage error={error} retry={reload} />}
      {booking === null && error === null && <Loading what="booking" />}
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
              <CopyButton label="Copy ID" text={() => booking.id} />
              <CopyButton label="Copy reference" text={() => booking.reference} />
            </div>
          </header>
          <BookingFacts booking={booking} user={user} />
          <h3 class="history">History</h3>
          <ol class="timeline">
            {booking.history.map((entry) => (
              <Entry
                key={`${entry.at} ${entry.type}`}
                entry={entry}
                actor={entry.actor === booking.userId ? user : entry.actor}
              />
            ))}
          </ol>
        </article>
      )}
    </Detail>
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
  const { flight, passengers, cancellation } = booking;
  return (
    <>
      <Facts
        of={[
          ["Booking ID", <span class="mono">{booking.id}</span>],
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
          ["Refund", cancellation === null ? null : refundText(cancellation.refund)],
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

type Refund = NonNullable<BookingDetail["cancellation"]>["refund"];

/** `USD 499.50 (100 %), pending`. The status is the API's: `pending` does not claim that money was paid. */
function refundText({ amount, currency, percent, status }: Refund): string {
  return `${money(amount, currency)} (${percent} %), ${status}`;
}

interface EntryParts {
  readonly entry: HistoryEntry;
  /** An email address or a user id; null if unknown. */
  readonly actor: string | null;
}

function Entry({ entry, actor }: EntryParts) {
  const { at, type, title, eventId, notifications } = entry;
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
          {notifications.map((notification) => (
            <Status key={notification.id} of={notification.status} />
          ))}
          {eventId !== null && <a href={writeRoute("events", eventId)}>View event</a>}
        </p>
      )}
    </li>
  );
}
