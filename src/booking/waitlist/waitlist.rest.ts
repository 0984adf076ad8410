import { Elysia } from "elysia";

import { type Callers, routes } from "../../web/rest/route.ts";

import {
  waitlistEntrySchema,
  waitlistFilters,
  waitlistPageSchema,
  waitlistParams,
  waitlistRequestSchema,
} from "./waitlist.schema.ts";
import type { Waitlist } from "./waitlist.ts";

const path = "/v1/api/waitlist";

/** Waiting lists: users see their own entries, admins see all. */
export const waitlistRest = (waitlist: Waitlist, callers: Callers) => {
  const { route, list, creation } = routes(callers, "Waiting lists");
  return new Elysia({ name: "waitlist", prefix: path })
    .post(
      "",
      ...creation("joinWaitlist", "Wait for seats on a flight", {
        description:
          "Joins the end of the line. Seats that come free are offered to the first in line that they are enough for: the entry is `offered`, and holds them until `offerExpiresAt`. Book the flight to take them. The error `seats-available`: the flight has enough seats, book them.",
        body: waitlistRequestSchema,
        response: waitlistEntrySchema,
        problems: [404, 409],
        location: ({ id }) => `${path}/${id}`,
        serve: ({ ctx, body, key }) => waitlist.join(ctx, body, key),
      }),
    )
    .get(
      "",
      ...list("listWaitlist", "List waiting list entries", {
        description: "Newest first. Users list their own entries. Admins list all.",
        ids: "wl_",
        filters: waitlistFilters,
        response: waitlistPageSchema,
        serve: ({ ctx, page, filters }) => waitlist.list(ctx, page, filters),
      }),
    )
    .get(
      "/:id",
      ...route("getWaitlistEntry", "Read a waiting list entry", {
        description: "For its user and admins. Other callers get 404.",
        params: waitlistParams,
        response: waitlistEntrySchema,
        problems: [404],
        serve: ({ ctx, params }) => waitlist.read(ctx, params.id),
      }),
    )
    .delete(
      "/:id",
      ...route("leaveWaitlist", "Leave a waiting list", {
        description:
          "Gives the seats of an offer to who is next in line. An entry that has ended stays as it is, so a repeated request returns the same response.",
        params: waitlistParams,
        response: waitlistEntrySchema,
        problems: [404],
        serve: ({ ctx, params }) => waitlist.leave(ctx, params.id),
      }),
    );
};
