import { type Static, Type } from "@sinclair/typebox";

import { bookingSummarySchema } from "../booking/bookings/booking.schema.ts";
import { count, flag, instant, listOf, mapOf, nullable, resource, text } from "../web/schema.ts";

const row = mapOf(Type.Unknown(), "The fields of a row, without secrets.");

const identitySchema = resource("Person", "Whom the e-mail address or id stands for.", {
  email: nullable(text("The e-mail address.", "ada@example.com")),
  ids: listOf(Type.String(), "What rows have as owner or actor."),
});

export const personExportSchema = resource("PersonExport", "What is stored about a person.", {
  person: identitySchema,
  exportedAt: instant("When it was read."),
  data: mapOf(listOf(row), "The rows by table. Passports are masked."),
  isComplete: flag("False if there is more: `skyhook person export` has no limit."),
});

export const personErasureSchema = resource("PersonErasure", "What erasing a person did.", {
  erased: mapOf(count("Rows."), "The number of rows that were deleted or rewritten, by table."),
});

const foundPersonSchema = resource("FoundPerson", "A person that a search found.", {
  name: nullable(
    text("A user's, or that of a passenger with this e-mail address.", "Ada Lovelace"),
  ),
  email: nullable(
    text(
      "The e-mail address. With it, or else with the user's id, the person is read.",
      "ada@example.com",
    ),
  ),
  userId: nullable(
    text(
      "The id of the user. Null if no account has this e-mail address, or it was not looked for.",
    ),
  ),
});

export interface FoundPerson extends Static<typeof foundPersonSchema> {}

export const foundPersonsSchema = resource("FoundPersons", "The persons that a search found.", {
  data: listOf(foundPersonSchema, "At most 20."),
  hasMore: flag("Whether more persons match: write more of the name or e-mail address."),
});

export interface FoundPersons extends Static<typeof foundPersonsSchema> {}

const openBookingSchema = resource(
  "OpenBooking",
  "A booking that keeps a person from being erased.",
  {
    bookingId: text("The booking's id."),
    reference: text("The booking's reference.", "KXQWZA"),
    departureTime: instant("When its flight departs."),
  },
);

export const personDetailsSchema = resource("PersonDetails", "A person, and their bookings.", {
  person: identitySchema,
  name: nullable(
    text("A user's, or that of a passenger with this e-mail address.", "Ada Lovelace"),
  ),
  createdAt: nullable(instant("When the user was made.")),
  roles: listOf(Type.String(), "The roles of the sessions that are open."),
  bookings: listOf(
    bookingSummarySchema,
    "What the person booked, is the contact of or travels on: the newest 100.",
  ),
  hasMore: flag("Whether there are more bookings."),
  openBookings: listOf(
    openBookingSchema,
    "What blocks an erasure: cancel these bookings first. At most 100.",
  ),
});

export interface PersonDetails extends Static<typeof personDetailsSchema> {}

export const personSearchSchema = Type.Object(
  {
    q: Type.String({
      maxLength: 254,
      description:
        "A booking's id or reference, a user's id, or the beginning of an e-mail address, of a user's name or of a passenger's last name. Empty: the newest users.",
      errorMessage: "Up to 254 characters",
      examples: ["grace@"],
    }),
  },
  { $id: "SearchPersons", description: "What to search for, in the body because URLs are logged." },
);

export const personSchema = Type.Object(
  {
    person: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "An e-mail address, or the id of a user.",
      errorMessage: "An e-mail address, or the id of a user",
      examples: ["grace@example.com"],
    }),
  },
  { $id: "NamePerson", description: "Names a person, in the body because URLs are logged." },
);
