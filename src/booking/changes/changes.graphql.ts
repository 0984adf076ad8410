import type { Builder } from "../../web/graphql/builder.ts";
import { enumOf, inputOf, objectOf } from "../../web/graphql/from-schema.ts";
import { loader } from "../../web/graphql/loaders.ts";
import { passengerCorrectionSchema } from "../bookings/booking-request.ts";
import type { BookingTypes } from "../bookings/bookings.graphql.ts";
import type { Bookings } from "../bookings/bookings.ts";
import type { FlightTypes } from "../flights/flights.graphql.ts";
import { bookingChangeSchema, type BookingChangeView } from "../model/booking-change.ts";

import type { Changes } from "./changes.ts";
import type { Corrections } from "./corrections.ts";

interface Services {
  readonly bookings: Pick<Bookings, "changes">;
  readonly changes: Changes;
  readonly corrections: Corrections;
}

/** Changes of bookings. Users change their own, admins all. */
export function changesGraphql(
  builder: Builder,
  { bookings, changes, corrections }: Services,
  { FlightType }: FlightTypes,
  { BookingType, PassengerType, loadBooking }: BookingTypes,
): void {
  const loadChangesOf = loader<string, readonly BookingChangeView[]>(async ({ signedIn }, ids) => {
    const found = await bookings.changes(signedIn(), ids);
    return (id) => found.get(id) ?? [];
  });
  const ChangeType = objectOf(builder, bookingChangeSchema, {
    kind: enumOf(builder, "BookingChangeKind", bookingChangeSchema, "kind"),
    status: enumOf(builder, "BookingChangeStatus", bookingChangeSchema, "status"),
    flight: FlightType,
    newFlight: FlightType,
  });
  builder.objectField(ChangeType, "booking", (t) =>
    t.field({
      type: BookingType,
      nullable: true,
      description: "The booking as it is now, so that clients with a cache see its new state.",
      resolve: ({ bookingId }, _, ctx) => loadBooking(ctx, bookingId),
    }),
  );
  builder.objectField(BookingType, "changes", (t) =>
    t.field({
      type: [ChangeType],
      description: "Offers and changes, newest first.",
      resolve: ({ id }, _, ctx) => loadChangesOf(ctx, id),
    }),
  );
  const PassengerCorrectionInput = inputOf(
    builder,
    "PassengerCorrectionInput",
    passengerCorrectionSchema,
    { email: "EmailAddress", dateOfBirth: "Date" },
  );

  builder.mutationFields((t) => {
    const bookingId = t.arg.id({ required: true, description: "Id of the booking." });
    const changeId = t.arg.id({ required: true, description: "Id of the change." });
    return {
      offerCancellation: t.field({
        type: ChangeType,
        description: "Quotes the refund for cancelling some passengers.",
        args: {
          bookingId,
          passengers: t.arg.intList({
            required: true,
            description: "The positions of the passengers to cancel.",
          }),
        },
        resolve: (_, args, { signedIn }) =>
          changes.offerCancellation(signedIn(), args.bookingId, { passengers: args.passengers }),
      }),
      offerChange: t.field({
        type: ChangeType,
        description: "Holds the seats of another flight and says what the change costs.",
        args: {
          bookingId,
          flightId: t.arg.int({ required: true, description: "Id of the flight to change to." }),
        },
        resolve: (_, args, { signedIn }) =>
          changes.offerFlight(signedIn(), args.bookingId, { flightId: args.flightId }),
      }),
      confirmChange: t.field({
        type: ChangeType,
        description: "Makes the change, or lets it wait for its payment.",
        args: { bookingId, changeId },
        resolve: (_, args, { signedIn }) =>
          changes.confirm(signedIn(), args.bookingId, args.changeId),
      }),
      withdrawChange: t.field({
        type: ChangeType,
        description: "Ends an offer and releases its seats.",
        args: { bookingId, changeId },
        resolve: (_, args, { signedIn }) =>
          changes.withdraw(signedIn(), args.bookingId, args.changeId),
      }),
      correctPassenger: t.field({
        type: PassengerType,
        description: "Corrects fields of a passenger.",
        args: {
          bookingId,
          position: t.arg.int({
            required: true,
            description: "The passenger's position in the booking, from 1.",
          }),
          input: t.arg({
            type: PassengerCorrectionInput,
            required: true,
            description: "The fields to correct.",
          }),
        },
        resolve(_, { bookingId: id, position, input }, { signedIn }) {
          const ctx = signedIn();
          // REST has no null here; in GraphQL, null for an optional input means that it is absent.
          const given = Object.entries(input).filter(([, value]) => value !== null);
          return corrections.correct(ctx, id, String(position), Object.fromEntries(given));
        },
      }),
    };
  });
}
