import { Type } from "@sinclair/typebox";

import type { Event } from "../events/event.ts";
import { notificationSchema } from "../notifications/notification.schema.ts";
import { pageParameters } from "../pagination/page.schema.ts";
import {
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../schema.ts";

import { type HistoryEntry, historyTypes } from "./booking-history.ts";
import type { BookingWithHistory } from "./booking-lookup.ts";
import { bookingDetailsFields } from "./booking.schema.ts";

const historyEntrySchema = schemaOf<HistoryEntry>()(
  "BookingHistoryEntry",
  "Something that happened to a booking.",
  {
    at: instant({ description: "When." }),
    type: word(historyTypes, { description: "What." }),
    title: text("One line to read.", "Booked: 2 seats for USD 999.00"),
    actor: nullable(text("Who did it; null when nobody did, or it is no longer known.")),
    eventId: nullable(prefixedId<Event["id"]>("evt_"), {
      description: "Its event; null where there is none, or it is no longer kept.",
    }),
    notifications: listOf(notificationSchema, { description: "What operators were told of it." }),
  },
);

export const bookingWithHistorySchema = schemaOf<BookingWithHistory>()(
  "BookingWithHistory",
  "A booking with its passengers and all that happened to it.",
  {
    ...bookingDetailsFields,
    history: listOf(historyEntrySchema, { description: "Oldest first." }),
  },
);

export const bookingLookupQuery = documented(
  Type.Object({
    ...pageParameters,
    q: Type.Optional(
      text("A booking's id, its reference, or its contact's e-mail address, whole.", "KXQWZA"),
    ),
  }),
);
