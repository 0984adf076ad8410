import { type Static, Type } from "@sinclair/typebox";

import { maxPassengers } from "../flight.ts";
import { emailSchema, nameSchema, storedEmail } from "../../identity/users/fields.ts";
import { bodyReader, type BodyError } from "../../base/validation.ts";

import { paymentMethods } from "../booking.ts";

const passengerSchema = Type.Object(
  {
    firstName: nameSchema(60, "Ada"),
    lastName: nameSchema(60, "Lovelace"),
    email: emailSchema,
    dateOfBirth: Type.String({
      format: "date",
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      description: "In the past, less than 120 years ago, by the day in UTC. Never shown again.",
      errorMessage: "A date as YYYY-MM-DD",
      examples: ["1990-04-12"],
    }),
    passportNumber: Type.String({
      pattern: "^(?:[\\s\\-\\u2010\\u2011]*[A-Za-z0-9]){5,9}[\\s\\-\\u2010\\u2011]*$",
      description:
        "Each passenger's own: 5 to 9 letters and digits; spaces and hyphens do not count. Shown masked.",
      errorMessage: "5 to 9 letters and digits",
      examples: ["X1234567"],
    }),
  },
  { $id: "PassengerRequest", description: "Who is to travel." },
);

/** What is asked for: the specification's fields. */
export const bookingRequestSchema = Type.Object(
  {
    flightId: Type.Integer({ minimum: 1, description: "The flight's id.", examples: [1] }),
    passengers: Type.Array(passengerSchema, {
      minItems: 1,
      maxItems: maxPassengers,
      errorMessage: `1 to ${maxPassengers} passengers`,
      description: "One seat each.",
    }),
    contactEmail: emailSchema,
    paymentMethod: Type.Union(
      paymentMethods.map((method) => Type.Literal(method)),
      {
        description: "Recorded; no money moves here.",
        errorMessage: `One of: ${paymentMethods.join(", ")}`,
      },
    ),
  },
  { $id: "BookingRequest", description: "Seats to book." },
);

export type BookingRequest = Static<typeof bookingRequestSchema>;

const oldestAgeYears = 120;

const readBody = bodyReader(bookingRequestSchema, "validation-failed", ruleErrors);

/**
 * Checks a request and puts it in its one form: names trimmed and composed (NFC), passports in upper
 * case without spaces and hyphens. Throws `invalid-body` for wrong types and `validation-failed` for
 * broken rules.
 */
export function readBookingRequest(body: unknown, now: Date): BookingRequest {
  const { flightId, passengers, contactEmail, paymentMethod } = readBody(body, now);
  return {
    flightId,
    passengers: passengers.map((passenger) => ({
      firstName: passenger.firstName.normalize("NFC").trim(),
      lastName: passenger.lastName.normalize("NFC").trim(),
      email: storedEmail(passenger.email),
      dateOfBirth: passenger.dateOfBirth,
      passportNumber: passportOf(passenger.passportNumber),
    })),
    contactEmail: storedEmail(contactEmail),
    paymentMethod,
  };
}

function passportOf(text: string): string {
  return text.replaceAll(/[\s\-\u2010\u2011]/g, "").toUpperCase();
}

/** The rules that the schema cannot say, in as much of a body as is there. */
function ruleErrors(body: unknown, now: Date): BodyError[] {
  const texts = passengersOf(body).map(({ dateOfBirth, passportNumber }) => ({
    birth: typeof dateOfBirth === "string" ? birthError(dateOfBirth, now) : null,
    passport: typeof passportNumber === "string" ? passportOf(passportNumber) : null,
  }));
  return texts.flatMap(({ birth, passport }, index) => {
    const first = texts.findIndex((other) => other.passport === passport);
    const repeated =
      passport !== null && first < index ? "Each passenger needs a passport of their own" : null;
    return [
      ...errorAt(`/passengers/${index}/dateOfBirth`, birth),
      ...errorAt(`/passengers/${index}/passportNumber`, repeated),
    ];
  });
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
  // More are refused for their number alone.
  return passengers
    .slice(0, maxPassengers)
    .map((each: unknown) => (typeof each === "object" && each !== null ? each : {}));
}

function birthError(text: string, now: Date): string | null {
  const birth = dateOf(text);
  if (birth === null) return "There is no such day";
  const today = dayInUtc(now);
  if (Temporal.PlainDate.compare(birth, today) >= 0) return "Must be in the past";
  const oldest = today.subtract({ years: oldestAgeYears });
  if (Temporal.PlainDate.compare(birth, oldest) <= 0)
    return `Must be under ${oldestAgeYears} years ago`;
  return null;
}

/** The same for all who ask: nothing tells in which zone somebody was born, or books. */
function dayInUtc(now: Date): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO("UTC")
    .toPlainDate();
}

function dateOf(text: string): Temporal.PlainDate | null {
  try {
    return Temporal.PlainDate.from(text, { overflow: "reject" });
  } catch {
    return null;
  }
}
