import { decodeCursor } from "../../base/cursor.ts";
import { readFilters } from "../../base/filters.ts";
import type { UserTypes } from "../../identity/users/users.graphql.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { filterArguments } from "../../web/graphql/filters.ts";
import { enumOf, fieldsExcept, fieldsOf, inputOf } from "../../web/graphql/from-schema.ts";
import { idempotencyKeyArg, idempotencyKeyOf } from "../../web/graphql/idempotency-key.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import type { FlightTypes } from "../flights/flights.graphql.ts";

import {
  waitlistEntrySchema,
  type WaitlistEntryView,
  waitlistFilters,
  waitlistRequestSchema,
} from "./waitlist.schema.ts";
import type { Waitlist } from "./waitlist.ts";

/** Waiting lists. Users access their own entries, admins all. */
export function waitlistGraphql(
  builder: Builder,
  waitlist: Waitlist,
  { FlightType }: FlightTypes,
  { UserType, loadUser }: UserTypes,
): void {
  const loadEntry = loader(async ({ signedIn }, ids: readonly string[]) =>
    one(await waitlist.find(signedIn(), ids), ({ id }): string => id),
  );
  const EntryType = builder.objectRef<WaitlistEntryView>("WaitlistEntry");
  const WaitlistStatus = enumOf(builder, "WaitlistStatus", waitlistEntrySchema, "status");

  builder.node(EntryType, {
    description: "An entry on the waiting list of a flight.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadEntry(ctx, id))),
    fields: (t) => ({
      ...fieldsOf(t, waitlistEntrySchema, fieldsExcept(waitlistEntrySchema, "id", "userId"), {
        status: WaitlistStatus,
        flight: FlightType,
      }),
      user: t.field({
        type: UserType,
        nullable: true,
        description: "The user who waits; null for a program, and for a user you cannot access.",
        resolve: ({ userId }, _, ctx) => loadUser(ctx, userId),
      }),
    }),
  });

  builder.queryField("waitlist", (t) =>
    t.connection(
      {
        type: EntryType,
        description: "Your waiting list entries, newest first. Admins receive all.",
        args: filterArguments(t.arg, waitlistFilters, { status: WaitlistStatus }),
        resolve: (_, args, { signedIn }) => {
          const ctx = signedIn();
          const filters = readFilters(waitlistFilters, args);
          return connectionOf(
            args,
            (cursor) => decodeCursor(cursor, "wl_"),
            (request) => waitlist.list(ctx, request, filters),
          );
        },
      },
      { name: "WaitlistConnection", description: "A page of waiting list entries." },
      { name: "WaitlistEdge", description: "A waiting list entry in a list." },
    ),
  );

  const JoinWaitlistInput = inputOf(builder, "JoinWaitlistInput", waitlistRequestSchema);

  builder.mutationFields((t) => ({
    joinWaitlist: t.field({
      type: EntryType,
      description: "Joins the end of the waiting list of a flight that has too few seats.",
      args: {
        input: t.arg({
          type: JoinWaitlistInput,
          required: true,
          description: "The seats to wait for.",
        }),
        idempotencyKey: t.arg.string(idempotencyKeyArg),
      },
      async resolve(_, { input, idempotencyKey }, { signedIn }) {
        const ctx = signedIn();
        const key = idempotencyKeyOf(idempotencyKey);
        // In GraphQL, null for an optional input means that it is absent.
        const body = { ...input, until: input.until ?? undefined };
        return (await waitlist.join(ctx, body, key)).made;
      },
    }),
    leaveWaitlist: t.field({
      type: EntryType,
      description:
        "Leaves a waiting list, and gives the seats of an offer to who is next. A repeated request returns the same result.",
      args: { entryId: t.arg.id({ required: true, description: "Id of the entry." }) },
      resolve: (_, { entryId }, { signedIn }) => waitlist.leave(signedIn(), entryId),
    }),
  }));
}
