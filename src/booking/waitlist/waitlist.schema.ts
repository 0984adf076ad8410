import { type Static, Type } from "@sinclair/typebox";

import type { Filters, FiltersOf } from "../../base/filters.ts";
import { instantIn } from "../../base/parameters.ts";
import { bodyReader } from "../../base/validation.ts";
import { pageOf } from "../../web/page.schema.ts";
import {
  count,
  documented,
  instant,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { flightIdSchema, flightSchema, maxPassengers } from "../flight.ts";
import { waitlistStatuses } from "../waitlist-entry.ts";

const entryId = prefixedId("wl_", "The entry's id.");
const status = word(
  waitlistStatuses,
  "`waiting`: in line. `offered`: seats are held until `offerExpiresAt`; book the flight to take them. `booked`: taken. `expired`: not taken in time, or none came free until `until`. `left`: ended by its user or an admin.",
);

export const waitlistEntrySchema = resource(
  "WaitlistEntry",
  "An entry on the waiting list of a flight.",
  {
    id: entryId,
    entryId: prefixedId("wl_", "Equal to `id`."),
    flight: flightSchema,
    userId: text("The id of the user who waits.", "019377b0-7d40-7000-8000-000000000001"),
    seats: count("The seats that it waits for.", 2),
    status,
    position: nullable(count("Its place in line, from 1.", 1), "Null unless it waits."),
    until: instant("When it stops waiting for an offer."),
    createdAt: instant("When it joined the line."),
    updatedAt: instant("When it last changed."),
    offeredAt: nullable(instant(), "When seats were offered; null if none were."),
    offerExpiresAt: nullable(instant(), "When the offer ends or ended; null without an offer."),
  },
);

export interface WaitlistEntryView extends Static<typeof waitlistEntrySchema> {}

export const waitlistPageSchema = pageOf(waitlistEntrySchema);

export const waitlistParams = documented(Type.Object({ id: text("The entry's id.") }));

export const waitlistFilters = {
  flightId: {
    kind: "text",
    label: "Flight",
    maxLength: 15,
    description: "Return only entries for the flight with this id.",
    example: "654",
  },
  status: {
    kind: "word",
    label: "Status",
    words: waitlistStatuses,
    description: "Return only entries with this status.",
  },
} as const satisfies Filters;

export type WaitlistFilters = FiltersOf<typeof waitlistFilters>;

const seatsError = `1 to ${maxPassengers} seats`;

export const waitlistRequestSchema = Type.Object(
  {
    flightId: flightIdSchema,
    seats: Type.Integer({
      minimum: 1,
      maximum: maxPassengers,
      errorMessage: seatsError,
      description: "The seats to wait for. An offer is for all of them.",
      examples: [2],
    }),
    until: Type.Optional(
      Type.String({
        format: "date-time",
        pattern: "^\\d{4}-",
        errorMessage: "An instant in ISO 8601, such as 2026-11-21T09:00:00Z",
        description: "When to stop waiting. At the latest, and by default, when sales end.",
        examples: ["2026-12-01T18:00:00Z"],
      }),
    ),
  },
  { $id: "WaitlistRequest", description: "Seats to wait for." },
);

/** Throws `invalid-body` for wrong types, and `validation-failed` for broken rules. */
export const readWaitlistRequest = bodyReader(
  waitlistRequestSchema,
  "validation-failed",
  (body: unknown, now: Date) => {
    const { until }: { readonly until?: unknown } = Object(body);
    if (typeof until !== "string") return [];
    const at = instantIn(until);
    if (at !== null && at > now) return [];
    const detail = at === null ? "Must be an instant in ISO 8601" : "Must be in the future";
    return [{ pointer: "/until", kind: "rule", detail }];
  },
);
