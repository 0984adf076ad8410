import { decodeCursor } from "../../base/cursor.ts";
import type { UserTypes } from "../../identity/users/users.graphql.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import { checkedIdempotencyKey } from "../../web/rest/idempotency-key.ts";
import { checkedFilter } from "../../web/rest/query.ts";

import { bookingStatuses, paymentMethods } from "../booking.ts";
import type { FlightTypes } from "../flights/flights.graphql.ts";

import type { BookingSummary, Cancellation, PassengerView, RefundView } from "./booking-view.ts";
import type { Bookings } from "./bookings.ts";

/** Bookings: everyone sees their own; admins see all. */
export function bookingsGraphql(
  builder: Builder,
  bookings: Bookings,
  { FlightType }: FlightTypes,
  { UserType, loadUser }: UserTypes,
): void {
  const loadBooking = loader(async ({ signedIn }, ids: readonly string[]) =>
    one(await bookings.find(signedIn(), ids), ({ id }): string => id),
  );
  const loadPassengersOf = loader<string, readonly PassengerView[]>(async ({ signedIn }, ids) => {
    const found = await bookings.passengers(signedIn(), ids);
    return (id) => found.get(id) ?? [];
  });
  const BookingType = builder.objectRef<BookingSummary>("Booking");
  const BookingStatus = builder.enumType("BookingStatus", {
    description: "Where a booking stands. `flown`: confirmed, and the flight has departed.",
    values: bookingStatuses,
  });
  const PaymentMethod = builder.enumType("PaymentMethod", {
    description: "Ways to pay. No money moves here: the method is recorded for whoever moves it.",
    values: paymentMethods,
  });

  const PassengerType = builder.objectRef<PassengerView>("Passenger").implement({
    description: "One traveller. What identifies a person is masked.",
    fields: (t) => ({
      firstName: t.exposeString("firstName", { description: "Given name." }),
      lastName: t.exposeString("lastName", { description: "Family name." }),
      email: t.expose("email", { type: "EmailAddress", description: "The traveller's address." }),
      dateOfBirth: t.exposeString("dateOfBirth", { description: "Masked whole." }),
      passportNumber: t.exposeString("passportNumber", {
        description: "Masked but for the last four characters.",
      }),
    }),
  });

  const RefundType = builder.objectRef<RefundView>("Refund").implement({
    description: "What a cancellation pays back.",
    fields: (t) => ({
      amount: t.expose("amount", { type: "Money", description: "What is paid back." }),
      currency: t.exposeString("currency", { description: "ISO 4217 code, as USD." }),
      percent: t.exposeFloat("percent", { description: "Share of the price that is paid back." }),
      fee: t.expose("fee", { type: "Money", description: "What is kept." }),
      method: t.exposeString("method", { description: "How it is paid back." }),
      status: t.exposeString("status", { description: "Where the payment stands." }),
      reason: t.exposeString("reason", { description: "The rule by which it was reckoned." }),
    }),
  });

  const CancellationType = builder.objectRef<Cancellation>("Cancellation").implement({
    description: "A booking's end.",
    fields: (t) => ({
      bookingId: t.exposeID("bookingId", { description: "The booking." }),
      status: t.expose("status", { type: BookingStatus, description: "Always `cancelled`." }),
      cancelledAt: t.expose("cancelledAt", { type: "DateTime", description: "When." }),
      refund: t.expose("refund", { type: RefundType, description: "What is paid back." }),
    }),
  });

  builder.node(BookingType, {
    description: "Seats on one flight, sold to one user.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadBooking(ctx, id))),
    fields: (t) => ({
      bookingId: t.exposeID("bookingId", { description: "The booking's id, as in REST." }),
      reference: t.exposeString("reference", { description: "Six letters to read out." }),
      status: t.expose("status", { type: BookingStatus, description: "Where it stands." }),
      seats: t.exposeInt("seats", { description: "Seats sold: one a passenger." }),
      totalPrice: t.expose("totalPrice", {
        type: "Money",
        description: "For all passengers, in major units of `currency`.",
      }),
      currency: t.exposeString("currency", { description: "ISO 4217 code, as USD." }),
      confirmationSentTo: t.expose("confirmationSentTo", {
        type: "EmailAddress",
        description: "The contact address.",
      }),
      flight: t.expose("flight", { type: FlightType, description: "The flight it is on." }),
      user: t.field({
        type: UserType,
        nullable: true,
        description: "Who booked; null for a program, and for a user you may not see.",
        resolve: ({ userId }, _, ctx) => loadUser(ctx, userId),
      }),
      passengers: t.field({
        type: [PassengerType],
        nullable: true,
        description:
          "The travellers, in the order of the request; null, with the error `unavailable`, while the key that they are sealed with is missing.",
        resolve: ({ id }, _, ctx) => loadPassengersOf(ctx, id),
      }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was booked." }),
      updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
      cancellation: t.expose("cancellation", {
        type: CancellationType,
        nullable: true,
        description: "Its end; null unless it is cancelled.",
      }),
    }),
  });

  builder.queryFields((t) => ({
    booking: t.field({
      type: BookingType,
      nullable: true,
      description: "A booking; null where there is none of this id, or it is not yours.",
      args: { bookingId: t.arg.id({ required: true, description: "The booking's id." }) },
      resolve: (_, { bookingId }, ctx) => loadBooking(ctx, bookingId),
    }),
    bookings: t.connection(
      {
        type: BookingType,
        description: "Your bookings, newest first; for admins everyone's.",
        args: {
          userId: t.arg.id({ description: "For admins: the bookings of this user only." }),
        },
        resolve: (_, { userId, ...args }, { signedIn }) => {
          const ctx = signedIn();
          const filters = { userId: checkedFilter("userId", userId) };
          return connectionOf(
            args,
            (cursor) => decodeCursor(cursor, "bk_"),
            (request) => bookings.list(ctx, request, filters),
          );
        },
      },
      { name: "BookingConnection", description: "A page of bookings." },
      { name: "BookingEdge", description: "A booking in a list." },
    ),
  }));

  const PassengerInput = builder.inputType("PassengerInput", {
    description: "One traveller of a new booking.",
    fields: (t) => ({
      firstName: t.string({ required: true, description: "1 to 60 characters." }),
      lastName: t.string({ required: true, description: "1 to 60 characters." }),
      email: t.field({ type: "EmailAddress", required: true, description: "Their address." }),
      dateOfBirth: t.field({
        type: "Date",
        required: true,
        description: "In the past, less than 120 years ago.",
      }),
      passportNumber: t.string({
        required: true,
        description: "5 to 9 letters and digits; spaces and hyphens do not count.",
      }),
    }),
  });
  const CreateBookingInput = builder.inputType("CreateBookingInput", {
    description: "What to book. The same as the body of POST /v1/api/bookings.",
    fields: (t) => ({
      flightId: t.int({ required: true, description: "The flight's number." }),
      passengers: t.field({
        type: [PassengerInput],
        required: true,
        description: "1 to 9 travellers, each with a passport of their own.",
      }),
      contactEmail: t.field({
        type: "EmailAddress",
        required: true,
        description: "Where the confirmation goes.",
      }),
      paymentMethod: t.field({ type: PaymentMethod, required: true, description: "How to pay." }),
    }),
  });

  builder.mutationFields((t) => ({
    createBooking: t.field({
      type: BookingType,
      description: "Takes the seats and books them, or neither.",
      args: {
        input: t.arg({ type: CreateBookingInput, required: true, description: "What to book." }),
        idempotencyKey: t.arg.string({
          description:
            "1 to 255 visible ASCII characters. A retry with the same key within 24 hours is told what the first request did.",
        }),
      },
      async resolve(_, { input, idempotencyKey }, { signedIn }) {
        const ctx = signedIn();
        const key = checkedIdempotencyKey(idempotencyKey, "idempotencyKey");
        return (await bookings.create(ctx, input, key)).made;
      },
    }),
    cancelBooking: t.field({
      type: CancellationType,
      description: "Cancels a booking and gives its seats back. A repeat is told the same.",
      args: { bookingId: t.arg.id({ required: true, description: "The booking's id." }) },
      resolve: (_, { bookingId }, { signedIn }) => bookings.cancel(signedIn(), bookingId),
    }),
  }));
}
