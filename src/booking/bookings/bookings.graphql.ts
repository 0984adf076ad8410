import { decodeCursor } from "../../base/cursor.ts";
import { AppError } from "../../base/errors.ts";
import { readFilters } from "../../base/filters.ts";
import type { UserTypes } from "../../identity/users/users.graphql.ts";
import { filterQuery } from "../../web/filters.schema.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import {
  argumentsOf,
  enumOf,
  fieldsExcept,
  fieldsOf,
  inputOf,
  objectOf,
} from "../../web/graphql/from-schema.ts";
import { idempotencyKeyArg, idempotencyKeyOf } from "../../web/graphql/idempotency-key.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import type { FlightTypes } from "../flights/flights.graphql.ts";
import { paymentMethods } from "../model/booking.ts";
import { flightChangeSchema, maxPassengers } from "../model/flight.ts";
import type { BookingMoney } from "../payments/payment-view.ts";
import { paymentSchema, payoutSchema, refundProgressSchema } from "../payments/payment.schema.ts";
import { refundRequestSchema } from "../payments/recorded-refund.ts";

import { bookingFilters } from "./booking-filters.ts";
import { bookingRequestSchema, passengerRequestSchema } from "./booking-request.ts";
import {
  type BookingSummary,
  bookingSummarySchema,
  cancellationSchema,
  passengerSchema,
  type PassengerView,
  refundSchema,
} from "./booking.schema.ts";
import type { Bookings } from "./bookings.ts";
import { expectedPriceSchema } from "./expected-price.ts";

/** Bookings. Users access their own, admins all. */
export function bookingsGraphql(
  builder: Builder,
  bookings: Bookings,
  { FlightType }: FlightTypes,
  { UserType, loadUser }: UserTypes,
) {
  const loadBooking = loader(async ({ signedIn }, ids: readonly string[]) =>
    one(await bookings.find(signedIn(), ids), ({ id }): string => id),
  );
  const loadPassengersOf = loader<string, readonly PassengerView[]>(async ({ signedIn }, ids) => {
    const found = await bookings.passengers(signedIn(), ids);
    return (id) => found.get(id) ?? [];
  });
  const loadMoneyOf = loader<string, BookingMoney | null>(async ({ signedIn }, ids) => {
    const found = await bookings.money(signedIn(), ids);
    return (id) => found.get(id) ?? null;
  });
  const BookingType = builder.objectRef<BookingSummary>("Booking");
  const BookingStatus = enumOf(builder, "BookingStatus", bookingSummarySchema, "status");
  const PaymentMethod = builder.enumType("PaymentMethod", {
    description: "Payment method. It is only recorded: this service makes no payments.",
    values: paymentMethods,
  });

  const PassengerType = objectOf(builder, passengerSchema);
  const RefundType = objectOf(builder, refundSchema, { percent: "Float" });
  const CancellationType = objectOf(builder, cancellationSchema, {
    status: BookingStatus,
    refund: RefundType,
  });
  const PaymentType = objectOf(builder, paymentSchema, {
    status: enumOf(builder, "PaymentStatus", paymentSchema, "status"),
  });
  const PayoutType = objectOf(builder, payoutSchema, {
    status: enumOf(builder, "PayoutStatus", payoutSchema, "status"),
  });
  const RefundProgressType = objectOf(builder, refundProgressSchema, {
    status: enumOf(builder, "RefundStatus", refundSchema, "status"),
    payouts: [PayoutType],
  });
  const FlightChangeType = objectOf(builder, flightChangeSchema);

  builder.objectField(CancellationType, "booking", (t) =>
    t.field({
      type: BookingType,
      nullable: true,
      description: "The booking as it is now, so that clients with a cache see its new status.",
      resolve: ({ bookingId }, _, ctx) => loadBooking(ctx, bookingId),
    }),
  );

  builder.node(BookingType, {
    description: "Seats on one flight, booked by one user.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadBooking(ctx, id))),
    fields: (t) => ({
      ...fieldsOf(
        t,
        bookingSummarySchema,
        fieldsExcept(
          bookingSummarySchema,
          "id",
          "userId",
          "expiresAt",
          "payment",
          "refund",
          "leadPassenger",
        ),
        {
          status: BookingStatus,
          flight: FlightType,
          flightChange: FlightChangeType,
          cancellation: CancellationType,
        },
      ),
      user: t.field({
        type: UserType,
        nullable: true,
        description: "The user who booked; null for a program, and for a user you cannot access.",
        resolve: ({ userId }, _, ctx) => loadUser(ctx, userId),
      }),
      passengers: t.field({
        type: [PassengerType],
        nullable: true,
        extensions: { maxItems: maxPassengers },
        description:
          "The passengers, in the order of the request. Null with the error `unavailable` if the key for their personal data is missing.",
        resolve: ({ id }, _, ctx) => loadPassengersOf(ctx, id),
      }),
      expiresAt: t.field({
        type: "DateTime",
        nullable: true,
        description: "When a hold that is not paid releases its seats; null if it was never held.",
        resolve: ({ expiresAt }) => expiresAt ?? null,
      }),
      paymentMethod: t.field({
        type: PaymentMethod,
        description: "The payment method of the request.",
        async resolve({ id }, _, ctx) {
          const money = await loadMoneyOf(ctx, id);
          if (money === null) throw new AppError("booking-not-found", "No booking has this id");
          return money.paymentMethod;
        },
      }),
      payments: t.field({
        type: [PaymentType],
        description: "The payments that providers reported, oldest first.",
        resolve: async ({ id }, _, ctx) => (await loadMoneyOf(ctx, id))?.payments ?? [],
      }),
      refund: t.field({
        type: RefundProgressType,
        nullable: true,
        description:
          "The refund due, and the amount refunded so far; null if nothing is due and nothing was refunded.",
        resolve: async ({ id }, _, ctx) => (await loadMoneyOf(ctx, id))?.refund ?? null,
      }),
    }),
  });

  builder.queryFields((t) => ({
    booking: t.field({
      type: BookingType,
      nullable: true,
      description: "The booking with an id; null if it does not exist or is not yours.",
      args: { bookingId: t.arg.id({ required: true, description: "Id of the booking." }) },
      resolve: (_, { bookingId }, ctx) => loadBooking(ctx, bookingId),
    }),
    bookings: t.connection(
      {
        type: BookingType,
        description:
          "Your bookings, newest first. Admins receive all bookings. The filters are for admins.",
        args: argumentsOf(t.arg, filterQuery(bookingFilters), {
          userId: "ID",
          status: BookingStatus,
        }),
        resolve: (_, args, { signedIn }) => {
          const ctx = signedIn();
          const filters = readFilters(bookingFilters, args);
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

  const PassengerInput = inputOf(builder, "PassengerInput", passengerRequestSchema, {
    email: "EmailAddress",
    dateOfBirth: "Date",
  });
  const CreateBookingInput = inputOf(builder, "CreateBookingInput", bookingRequestSchema, {
    passengers: [PassengerInput],
    contactEmail: "EmailAddress",
    paymentMethod: PaymentMethod,
    expectedPrice: inputOf(builder, "ExpectedPriceInput", expectedPriceSchema),
  });

  const RecordRefundInput = inputOf(builder, "RecordRefundInput", refundRequestSchema);

  builder.mutationFields((t) => ({
    createBooking: t.field({
      type: BookingType,
      description: "Books seats on a flight.",
      args: {
        input: t.arg({
          type: CreateBookingInput,
          required: true,
          description: "The booking to create.",
        }),
        idempotencyKey: t.arg.string(idempotencyKeyArg),
      },
      async resolve(_, { input, idempotencyKey }, { signedIn }) {
        const ctx = signedIn();
        const key = idempotencyKeyOf(idempotencyKey);
        return (await bookings.create(ctx, input, key)).made;
      },
    }),
    cancelBooking: t.field({
      type: CancellationType,
      description:
        "Cancels a booking and releases its seats. A repeated request returns the same result.",
      args: { bookingId: t.arg.id({ required: true, description: "Id of the booking." }) },
      resolve: (_, { bookingId }, { signedIn }) => bookings.cancel(signedIn(), bookingId),
    }),
    recordRefund: t.field({
      type: BookingType,
      nullable: true,
      description:
        "Records that a refund was made, for admins. The amount is the sum of all refunds so far: a repeated request changes nothing, and less than what is recorded needs a reason.",
      args: {
        bookingId: t.arg.id({ required: true, description: "Id of the booking." }),
        input: t.arg({ type: RecordRefundInput, description: "Default: all that is due." }),
      },
      async resolve(_, { bookingId, input }, ctx) {
        await bookings.recordRefund(ctx.signedIn(), bookingId, input ?? {});
        return loadBooking(ctx, bookingId);
      },
    }),
  }));

  return { BookingType, PassengerType, loadBooking };
}

/** Used in the types of other features. */
export type BookingTypes = ReturnType<typeof bookingsGraphql>;
