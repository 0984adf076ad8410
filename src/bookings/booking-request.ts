import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

import { lazy } from "../lazy.ts";
import { emailSchema, nameSchema } from "../users/fields.ts";
import { type Fault, faultsError, schemaFaults } from "../validation.ts";

import { paymentMethods } from "./booking.ts";

export const maxPassengers = 9;

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
      pattern: "^\\s*[A-Za-z0-9]{6,9}\\s*$",
      description: "Each passenger's own. Shown masked.",
      errorMessage: "6 to 9 letters and digits",
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

const check = lazy(() => TypeCompiler.Compile(bookingRequestSchema));
const oldestAgeYears = 120;

/**
 * Checks a request and puts it in its one form: names trimmed and composed (NFC), passports in upper
 * case. Throws `invalid-body` for wrong types and `validation-failed` for broken rules.
 */
export function readBookingRequest(body: unknown, now: Date): BookingRequest {
  const compiled = check();
  const failure = compiled.Check(body)
    ? faultsError(ruleFaults(body, now), "validation-failed")
    : faultsError(schemaFaults(compiled.Errors(body)), "validation-failed");
  if (failure !== null) throw failure;
  return canonical(compiled.Decode(body));
}

function canonical({
  flightId,
  passengers,
  contactEmail,
  paymentMethod,
}: BookingRequest): BookingRequest {
  return {
    flightId,
    passengers: passengers.map((passenger) => ({
      firstName: passenger.firstName.normalize("NFC").trim(),
      lastName: passenger.lastName.normalize("NFC").trim(),
      email: passenger.email.trim(),
      dateOfBirth: passenger.dateOfBirth,
      passportNumber: passportOf(passenger.passportNumber),
    })),
    contactEmail: contactEmail.trim(),
    paymentMethod,
  };
}

const passportOf = (text: string): string => text.trim().toUpperCase();

/** The rules that a schema cannot say. */
function ruleFaults({ passengers }: BookingRequest, now: Date): Fault[] {
  const passports = passengers.map(({ passportNumber }) => passportOf(passportNumber));
  return passengers.flatMap(({ dateOfBirth }, index) => {
    const faults: Fault[] = [];
    const birth = birthFault(dateOfBirth, now);
    if (birth !== null) {
      faults.push({ pointer: `/passengers/${index}/dateOfBirth`, kind: "rule", detail: birth });
    }
    if (passports.indexOf(passports[index] ?? "") < index) {
      const pointer = `/passengers/${index}/passportNumber`;
      faults.push({
        pointer,
        kind: "rule",
        detail: "Each passenger needs a passport of their own",
      });
    }
    return faults;
  });
}

function birthFault(text: string, now: Date): string | null {
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
