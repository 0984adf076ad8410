import type { Builder } from "../../web/graphql/builder.ts";
import { enumOf, objectOf } from "../../web/graphql/from-schema.ts";
import { loader } from "../../web/graphql/loaders.ts";

import type { BookingTypes } from "./bookings.graphql.ts";
import {
  type BookingFlightChange,
  bookingFlightChangeSchema,
  flightChangeAnswers,
} from "./flight-change.schema.ts";
import type { FlightChanges } from "./flight-changes.ts";

/** Changes of the flights of bookings, for their owners and admins. */
export function flightChangesGraphql(
  builder: Builder,
  changes: FlightChanges,
  { BookingType, loadBooking }: BookingTypes,
): void {
  const loadChangeOf = loader<string, BookingFlightChange | null>(async ({ signedIn }, ids) => {
    const found = await changes.of(signedIn(), ids);
    return (id) => found.get(id) ?? null;
  });
  const ChangeType = objectOf(builder, bookingFlightChangeSchema, {
    status: enumOf(builder, "FlightChangeStatus", bookingFlightChangeSchema, "status"),
  });
  const Answer = builder.enumType("FlightChangeAnswer", {
    description: "An answer to a change of a booking's flight. Otherwise, cancel the booking.",
    values: flightChangeAnswers,
  });

  builder.objectField(BookingType, "flightChange", (t) =>
    t.field({
      type: ChangeType,
      nullable: true,
      description: "The change of the flight by the airline; null if there was none.",
      resolve: ({ bookingId }, _, ctx) => loadChangeOf(ctx, bookingId),
    }),
  );

  builder.mutationField("answerFlightChange", (t) =>
    t.field({
      type: BookingType,
      nullable: true,
      description: "Accepts a change of a booking's flight. A repeated request changes nothing.",
      args: {
        bookingId: t.arg.id({ required: true, description: "Id of the booking." }),
        answer: t.arg({ type: Answer, required: true, description: "The answer." }),
        changeId: t.arg.id({
          description:
            "Id of the change that is answered. If the flight has changed again since, nothing is accepted.",
        }),
      },
      async resolve(_, { bookingId, answer, changeId }, ctx) {
        const body = { answer, ...(changeId != null && { changeId }) };
        await changes.answer(ctx.signedIn(), bookingId, body);
        return loadBooking(ctx, bookingId);
      },
    }),
  );
}
