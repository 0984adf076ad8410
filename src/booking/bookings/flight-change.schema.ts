import { type Static, Type } from "@sinclair/typebox";

import { bodyReader } from "../../base/validation.ts";
import { pageOf } from "../../web/page.schema.ts";
import { count, instant, nullable, prefixedId, resource, text, word } from "../../web/schema.ts";
import { flightChangeStatuses } from "../booking-words.ts";
import { flightChangeTypes } from "../flight-change.ts";
import { cabinClasses, flightIdSchema } from "../flight.ts";

const newTime = instant({ examples: ["2026-12-08T15:05:00.000Z"] });

/** What changed of a flight. */
const changedFields = {
  id: prefixedId("fch_", "The id of the change. All bookings of the flight have the same."),
  type: word(flightChangeTypes, "`flight.changed`: other times or airports."),
  previousDepartureTime: instant("The old departure, in UTC."),
  previousArrivalTime: instant("The old arrival, in UTC."),
  previousOrigin: text("The old origin.", "JFK"),
  previousDestination: text("The old destination.", "LHR"),
  departureTime: nullable(newTime, "The new departure, in UTC; null if cancelled."),
  arrivalTime: nullable(newTime, "The new arrival, in UTC; null if cancelled."),
  origin: nullable(text("", "JFK"), "The new origin; null if cancelled."),
  destination: nullable(text("", "LHR"), "The new destination; null if cancelled."),
  createdAt: instant("When the airline's change was imported."),
};

export const bookingFlightChangeSchema = resource(
  "BookingFlightChange",
  "A change of a booking's flight by the airline. If the flight changed again before the owner answered, the old times are those before the first change, and the new ones those of the last.",
  {
    ...changedFields,
    status: word(
      flightChangeStatuses,
      "`unanswered`: accept it, or cancel the booking for a full refund. `accepted`: the owner accepted it. `cancelled` and `changed`: the booking was. `notified`: a small move, which needs no answer.",
    ),
    answeredAt: nullable(instant(), "When it was answered; null if it was not."),
  },
);

export interface BookingFlightChange extends Static<typeof bookingFlightChangeSchema> {}

export const flightChangeAnswers = ["accept"] as const;

export const flightChangeAnswerSchema = Type.Object(
  {
    answer: Type.Union(
      flightChangeAnswers.map((answer) => Type.Literal(answer)),
      {
        description: "`accept`: fly at the new times. Otherwise, cancel the booking.",
        errorMessage: `One of: ${flightChangeAnswers.join(", ")}`,
      },
    ),
    changeId: Type.Optional(
      Type.String({
        description:
          "The id of the change that is answered. If the flight has changed again since, nothing is accepted.",
        examples: ["fch_019377b07d4070008000000000000001"],
      }),
    ),
  },
  { $id: "FlightChangeAnswer", description: "The owner's answer to a change of the flight." },
);

export const readFlightChangeAnswer = bodyReader(flightChangeAnswerSchema, "validation-failed");

export const flightChangeSchema = resource(
  "FlightChange",
  "A change of a flight with bookings by the airline, and how many owners have answered it.",
  {
    ...changedFields,
    flightId: flightIdSchema,
    flightNumber: text("The number of the flight.", "N4003"),
    cabinClass: word(cabinClasses, "The cabin."),
    bookings: count("Bookings that had seats on the flight.", 12),
    notified: count("Bookings whose owners were notified so far.", 12),
    unanswered: count("Bookings with seats whose owners have not answered.", 4),
    accepted: count("Bookings whose owners accepted it.", 6),
  },
);

export interface FlightChangeCounts extends Static<typeof flightChangeSchema> {}

export const flightChangePageSchema = pageOf(flightChangeSchema);
