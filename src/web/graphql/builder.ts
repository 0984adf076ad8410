import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";

import type {
  BookingSummary,
  Cancellation,
  PassengerView,
  RefundView,
} from "../../booking/bookings/booking-view.ts";
import type { Event, EventData } from "../../gateway/event.ts";
import type { FlightView } from "../../booking/flight.ts";
import type { FlightSearchResult } from "../../booking/flights/flights.ts";
import type { SeatsChange } from "../../booking/flights/seats.ts";
import type { Money } from "../../base/money.ts";
import type { Notification } from "../../gateway/notification.ts";
import { invalidParameter } from "../rest/query.ts";
import type { User } from "../../identity/users/user.ts";

import type { GraphqlContext } from "./context.ts";

/** What stands behind each type: what the verbs return, and what is known of it already. */
interface Types {
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  Context: GraphqlContext;
  Connection: { readonly total: () => Promise<number> };
  Objects: {
    Flight: FlightView;
    FlightSearchResult: FlightSearchResult;
    Price: Money;
    SeatsChange: SeatsChange;
    Booking: BookingSummary;
    Passenger: PassengerView;
    Cancellation: Cancellation;
    Refund: RefundView;
    User: User;
    Event: Event;
    Notification: Pick<
      Notification,
      "id" | "eventId" | "createdAt" | "title" | "text" | "url" | "severity"
    >;
  };
  Scalars: {
    ID: { Input: string; Output: string | number };
    DateTime: { Input: never; Output: Date };
    Date: { Input: string; Output: string };
    EmailAddress: { Input: string; Output: string };
    Money: { Input: never; Output: number };
    JSONObject: { Input: never; Output: EventData };
  };
}

/** What the doors add their types and fields to. */
export type Builder = ReturnType<typeof createBuilder>;

/** Types that `node` finds. */
const nodeTypes = ["Flight", "Booking", "User", "Event"] as const;
type NodeType = (typeof nodeTypes)[number];
const maxNodes = 100;

/**
 * For fields whose value may be a promise. Pothos leaves a field that exposes the property of its own
 * name to GraphQL's default resolver, which compiled queries take for a plain value.
 */
const later = { extensions: { pothosExposedField: null } } as const;

export function createBuilder() {
  const builder = new SchemaBuilder<Types>({
    plugins: [RelayPlugin],
    defaultFieldNullability: false,
    relay: {
      encodeGlobalID: (type, id) => Buffer.from(`${type}:${id}`).toString("base64"),
      decodeGlobalID,
      nodesOnConnection: { description: "The items of this page, without their cursors." },
      edgesFieldOptions: {
        description: "The items of this page with their cursors.",
        nullable: false,
      },
      pageInfoFieldOptions: { description: "Where this page stands in its list." },
      nodeFieldOptions: { description: "The item.", nullable: false },
      cursorFieldOptions: {
        description:
          "The item's place in the list, for `after` or `before`, and for REST's `cursor`.",
      },
      nodeTypeOptions: { description: "Anything that `node` finds by its global id." },
      idFieldOptions: { description: "Global id: opaque, the same for good, for `node`." },
      pageInfoTypeOptions: { description: "Where a page stands in its list." },
      hasNextPageFieldOptions: {
        ...later,
        description: "Whether there are items after this page.",
      },
      hasPreviousPageFieldOptions: {
        ...later,
        description: "Whether there are items before this page.",
      },
      startCursorFieldOptions: { description: "The first item's cursor; null on an empty page." },
      endCursorFieldOptions: { description: "The last item's cursor; null on an empty page." },
      firstArgOptions: {
        description:
          "How many items from the front, 0 or more; more than 100 counts as 100. 20 if left out.",
      },
      afterArgOptions: { description: "Items after this cursor only. Goes with `first`." },
      lastArgOptions: {
        description: "How many items from the end, 0 or more; more than 100 counts as 100.",
      },
      beforeArgOptions: { description: "Items before this cursor only. Goes with `last`." },
      nodeQueryOptions: {
        description: "The thing of a global id; null where there is none that you may see.",
        args: { id: { description: "A global id, as a field `id` returned it." } },
      },
      nodesQueryOptions: {
        description: "The things of many global ids, in the same order; null for each not found.",
        args: { ids: { description: `Up to ${maxNodes} global ids.` } },
        resolve(_, { ids }, _ctx, _info, resolveNodes) {
          if (ids.length > maxNodes) throw invalidParameter("ids", `At most ${maxNodes} of them`);
          return resolveNodes(ids);
        },
      },
    },
  });
  builder.globalConnectionField("totalCount", (t) =>
    t.int({
      description: "How many items the whole list has. Counted only when asked for.",
      resolve: (connection) => connection.total(),
    }),
  );
  builder.queryType({ description: "What can be read." });
  builder.mutationType({ description: "What can be changed." });
  builder.subscriptionType({ description: "What can be followed, as server-sent events." });
  return builder;
}

/** Strict: an id that we did not write is a fault of the query, not a miss. */
function decodeGlobalID(globalId: string): { typename: NodeType; id: string } {
  const bytes = Buffer.from(globalId, "base64");
  const [, name, id] = /^(\w+):(.+)$/.exec(bytes.toString()) ?? [];
  const typename = nodeTypes.find((type) => type === name);
  if (typename === undefined || id === undefined || bytes.toString("base64") !== globalId) {
    throw invalidParameter("id", "Not a global id of this service");
  }
  return { typename, id };
}
