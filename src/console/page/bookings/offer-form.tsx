import { ApiError, callApi } from "../kit/api.ts";
import { Fields, Form, type FormFields, valuesIn } from "../kit/form.tsx";
import { type Of, Text } from "../kit/text.tsx";
import { notify } from "../kit/ui.tsx";
import type { BookingChange, BookingDetail } from "../kit/wire.ts";

import { isOpen } from "./booking-changes.tsx";

/** What can be offered, by the path in the API that offers it. */
export const offers = { cancellation: "Cancel passengers", changes: "Change flight" } as const;
export type Offer = keyof typeof offers;

/** What can be offered for a booking now. An open offer is answered first: a new one would replace it. */
export function offersFor({ status, changes = [] }: BookingDetail): readonly Offer[] {
  if (changes.some(isOpen)) return [];
  if (status === "held") return ["cancellation"];
  return status === "confirmed" ? ["cancellation", "changes"] : [];
}

const flightFields = {
  flightId: {
    type: "integer",
    label: "Flight ID",
    hint: "The ID of one cabin. The departures of a day in Flights show it.",
  },
} as const satisfies FormFields;

interface Parts {
  readonly booking: BookingDetail;
  readonly offer: Offer;
  /** Closes the form. */
  readonly close: () => void;
  /** Called after an offer was made. */
  readonly offered: () => void;
}

/** Asks for an offer. It shows its price, and changes nothing until it is confirmed. */
export function OfferForm({ booking, offer, close, offered }: Parts) {
  async function send(values: FormData): Promise<void> {
    const path = `v1/api/bookings/${encodeURIComponent(booking.id)}/${offer}`;
    const body =
      offer === "changes" ? valuesIn(values, flightFields) : { passengers: chosenIn(values) };
    await callApi<BookingChange>(path, { method: "POST", body });
    notify("Offer made. It changes nothing until it is confirmed.");
    close();
    offered();
  }
  return (
    <Form
      title={offers[offer]}
      submit={["Show the price", "Asking…"]}
      shows={Object.keys(flightFields)}
      send={send}
      cancel={close}
      // Not "Cancel", as in other forms: that is what this one does to passengers.
      cancelLabel="Close"
      isFocused
    >
      {offer === "changes" ? (
        <Fields of={flightFields} />
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
