import { ApiError, callApi } from "../kit/api.ts";
import { Form } from "../kit/form.tsx";
import { type Of, Text } from "../kit/text.tsx";
import { notify } from "../kit/ui.tsx";
import type { BookingChange, BookingDetail } from "../kit/wire.ts";

import { isOpen } from "./booking-changes.tsx";
import { FlightChoice } from "./flight-choice.tsx";

/** What can be offered, by the path in the API that offers it. */
export const offers = { changes: "Change flight", cancellation: "Cancel passengers" } as const;
export type Offer = keyof typeof offers;

const reviews = { changes: "Review change", cancellation: "Review cancellation" } as const;

/** What can be offered for a booking now. An open offer is answered first: a new one would replace it. */
export function offersFor({ status, changes = [] }: BookingDetail): readonly Offer[] {
  if (changes.some(isOpen)) return [];
  if (status === "held") return ["cancellation"];
  return status === "confirmed" ? ["changes", "cancellation"] : [];
}

interface Parts {
  readonly booking: BookingDetail;
  readonly offer: Offer;
  /** Closes the form. */
  readonly close: () => void;
  /** Called after an offer was made. */
  readonly offered: () => void;
}

/** Asks for an offer, which says what the change costs and is then confirmed or discarded. */
export function OfferForm({ booking, offer, close, offered }: Parts) {
  async function send(values: FormData): Promise<void> {
    const path = `v1/api/bookings/${encodeURIComponent(booking.id)}/${offer}`;
    const body =
      offer === "changes" ? { flightId: flightIn(values) } : { passengers: chosenIn(values) };
    await callApi<BookingChange>(path, { method: "POST", body });
    notify("Nothing has changed yet: check the amounts and confirm.", "info");
    close();
    offered();
  }
  return (
    <Form
      title={offers[offer]}
      submit={[reviews[offer], "Calculating…"]}
      shows={[]}
      send={send}
      cancel={close}
      // Not "Cancel", as in other forms: that is what this one does to passengers.
      cancelLabel="Close"
      isFocused
    >
      {offer === "changes" ? (
        <FlightChoice of={booking} />
      ) : (
        <PassengerChoice of={booking.passengers} />
      )}
    </Form>
  );
}

function PassengerChoice({ of: passengers }: Of<BookingDetail["passengers"]>) {
  return (
    <fieldset class="conditions">
      <legend>Who no longer flies?</legend>
      <p class="quiet">
        Choose everyone to cancel the booking. The next step shows the refund, before you confirm.
      </p>
      {passengers.map(
        ({ firstName, lastName, cancelledAt }, index) =>
          cancelledAt === undefined && (
            <label key={index} class="check">
              <input type="checkbox" name="passenger" value={index + 1} />
              <Text of={`${firstName} ${lastName}`} />
            </label>
          ),
      )}
    </fieldset>
  );
}

/** The positions of the chosen passengers. */
function chosenIn(values: FormData): readonly number[] {
  const positions = values.getAll("passenger").map(Number);
  if (positions.length > 0) return positions;
  throw new ApiError(422, "validation-failed", "Choose at least one passenger.");
}

function flightIn(values: FormData): number {
  const flightId = values.get("flightId");
  if (flightId !== null) return Number(flightId);
  throw new ApiError(422, "validation-failed", "Choose a departure.");
}
