import { type Static, Type } from "@sinclair/typebox";

import { calendarDate } from "../../base/times.ts";
import { type BodyError, bodyReader } from "../../base/validation.ts";
import { emailSchema, nameSchema, storedEmail } from "../../identity/users/fields.ts";
import { paymentMethods } from "../model/booking.ts";
import { flightIdSchema, maxPassengers } from "../model/flight.ts";

import { expectedPriceErrors, expectedPriceSchema } from "./expected-price.ts";

export const passengerRequestSchema = Type.Object(
  {
    firstName: nameSchema(60, "Ada"),
    lastName: nameSchema(60, "Lovelace"),
    email: emailSchema,
    dateOfBirth: Type.String({
      format: "date",
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      description: "In the past, less than 120 years ago, by the day in UTC. Responses mask it.",
      errorMessage: "A date as YYYY-MM-DD",
      examples: ["1990-04-12"],
    }),
    passportNumber: Type.String({
      pattern: "^(?:[\\s\\-\\u2010\\u2011]*[A-Za-z0-9]){5,9}[\\s\\-\\u2010\\u2011]*$",
      description:
        "5 to 9 letters and digits, unique in the booking. Spaces and hyphens are ignored. Responses mask it.",
      errorMessage: "5 to 9 letters and digits",
      examples: ["X1234567"],
    }),
  },
  { $id: "PassengerRequest", description: "A passenger to book a seat for." },
);

/** The body of POST /v1/api/bookings, as specified. */
export const bookingRequestSchema = Type.Object(
  {
    flightId: flightIdSchema,
    passengers: Type.Array(passengerRequestSchema, {
      minItems: 1,
      maxItems: maxPassengers,
      errorMessage: `1 to ${maxPassengers} passengers`,
      description: "One seat is booked per passenger.",
    }),
    contactEmail: emailSchema,
    paymentMethod: Type.Union(
      paymentMethods.map((method) => Type.Literal(method)),
      {
        description: "Recorded only. Skyhook does not process payments.",
        errorMessage: `One of: ${paymentMethods.join(", ")}`,
      },
    ),
    hold: Type.Optional(
      Type.Boolean({
        description:
          "If true, the seats are held at this price until `expiresAt`, and a payment confirms the booking.",
      }),
    ),
    expectedPrice: Type.Optional(expectedPriceSchema),
  },
  { $id: "BookingRequest", description: "Seats to book." },
);

export type BookingRequest = Static<typeof bookingRequestSchema>;

const oldestAgeYears = 120;

const readBody = bodyReader(bookingRequestSchema, "validation-failed", ruleErrors);

/**
 * Validates and normalizes a request: names are trimmed and composed (NFC), passport numbers in upper case
 * without spaces and hyphens. Throws `invalid-body` for wrong types and `validation-failed` for
 * broken rules.
 */
export function readBookingRequest(body: unknown, now: Date): BookingRequest {
  const { flightId, passengers, contactEmail, paymentMethod, hold, expectedPrice } = readBody(
    body,
    now,
  );
  return {
    flightId,
    passengers: passengers.map(normalizedPassenger),
    contactEmail: storedEmail(contactEmail),
    paymentMethod,
    // Absent unless true, so that the hash for idempotency is the same with and without `false`.
    ...(hold === true && { hold }),
    ...(expectedPrice !== undefined && {
      expectedPrice: { amount: expectedPrice.amount, currency: expectedPrice.currency },
    }),
  };
}

type PassengerRequest = Static<typeof passengerRequestSchema>;

/** Only the fields of a request. */
export function normalizedPassenger(passenger: PassengerRequest): PassengerRequest {
  return {
    firstName: passenger.firstName.normalize("NFC").trim(),
    lastName: passenger.lastName.normalize("NFC").trim(),
    email: storedEmail(passenger.email),
    dateOfBirth: passenger.dateOfBirth,
    passportNumber: passportOf(passenger.passportNumber),
  };
}

/** The body of PATCH /v1/api/bookings/{id}/passengers/{position}. */
export const passengerCorrectionSchema = Type.Partial(passengerRequestSchema, {
  $id: "PassengerCorrection",
  description: "The fields of a passenger to correct.",
  examples: [{ firstName: "Augusta Ada" }],
});

/** Throws `invalid-body` for wrong types and `validation-failed` for broken rules. */
export const readCorrection = bodyReader(
  passengerCorrectionSchema,
  "validation-failed",
  (body: unknown, now: Date) => {
    const [passenger] = passengersOf({ passengers: [body] });
    const birth = passenger?.dateOfBirth;
    return errorAt("/dateOfBirth", typeof birth === "string" ? birthError(birth, now) : null);
  },
);

function passportOf(text: string): string {
  return text.replaceAll(/[\s\-\u2010\u2011]/g, "").toUpperCase();
}

/** Checks the rules that the schema cannot express. The body may break the schema. */
function ruleErrors(body: unknown, now: Date): BodyError[] {
  const texts = passengersOf(body).map(({ dateOfBirth, passportNumber }) => ({
    birth: typeof dateOfBirth === "string" ? birthError(dateOfBirth, now) : null,
    passport: typeof passportNumber === "string" ? passportOf(passportNumber) : null,
  }));
  const ofPassengers = texts.flatMap(({ birth, passport }, index) => {
    const first = texts.findIndex((other) => other.passport === passport);
    const repeated =
      passport !== null && first < index ? "Another passenger has the same passport number" : null;
    return [
      ...errorAt(`/passengers/${index}/dateOfBirth`, birth),
      ...errorAt(`/passengers/${index}/passportNumber`, repeated),
    ];
  });
  return [...ofPassengers, ...expectedPriceErrors(priceOf(body), "/expectedPrice")];
}

function priceOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "expectedPrice" in body
    ? body.expectedPrice
    : undefined;
}

function errorAt(pointer: string, detail: string | null): BodyError[] {
  return detail === null ? [] : [{ pointer, kind: "rule", detail }];
}

interface AnyPassenger {
  readonly dateOfBirth?: unknown;
  readonly passportNumber?: unknown;
}

function passengersOf(body: unknown): readonly AnyPassenger[] {
  if (typeof body !== "object" || body === null) return [];
  const { passengers }: { readonly passengers?: unknown } = body;
  if (!Array.isArray(passengers)) return [];
  // The schema rejects more passengers. Do not spend time on them.
  return passengers
    .slice(0, maxPassengers)
    .map((each: unknown) => (typeof each === "object" && each !== null ? each : {}));
}

function birthError(text: string, now: Date): string | null {
  const birth = calendarDate(text);
  if (birth === null) return "Must be a date that exists";
  const today = dayInUtc(now);
  if (Temporal.PlainDate.compare(birth, today) >= 0) return "Must be in the past";
  const oldest = today.subtract({ years: oldestAgeYears });
  if (Temporal.PlainDate.compare(birth, oldest) <= 0)
    return `Must be less than ${oldestAgeYears} years ago`;
  return null;
}

/** Uses UTC, because the time zones of the birth and of the client are unknown. */
function dayInUtc(now: Date): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO("UTC")
    .toPlainDate();
}
