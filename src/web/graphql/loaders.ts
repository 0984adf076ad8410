import DataLoader from "dataloader";

import type { BookingSummary, PassengerView } from "../../booking/bookings/booking-view.ts";
import type { Context } from "../../base/context.ts";
import type { Event } from "../../gateway/event.ts";
import type { Flight, FlightView } from "../../booking/flight.ts";
import type { Notification } from "../../gateway/notification.ts";
import type { User } from "../../identity/users/user.ts";

import type { Verbs } from "./context.ts";

type Load<Key, Value> = (key: Key) => Promise<Value>;

/** What is asked for in one turn is read by one statement, however many fields ask. */
export interface Loaders {
  readonly flight: Load<Flight["id"], FlightView | null>;
  readonly booking: Load<string, BookingSummary | null>;
  readonly user: Load<User["id"], User | null>;
  readonly event: Load<string, Event | null>;
  readonly passengers: Load<string, readonly PassengerView[]>;
  readonly notifications: Load<Event["id"], readonly Notification[]>;
}

/** Loaders for one request, which see what its asker may see. */
export function loaders(verbs: Verbs, signedIn: () => Context): Loaders {
  const { flights, bookings, users, events, notifications } = verbs;
  return {
    flight: batched(async (ids) => one(await flights.find(ids), ({ id }) => id)),
    booking: batched(async (ids) =>
      one(await bookings.find(signedIn(), ids), ({ id }): string => id),
    ),
    user: batched(async (ids) => one(await users.find(signedIn(), ids), ({ id }) => id)),
    event: batched(async (ids) => one(await events.find(signedIn(), ids), ({ id }): string => id)),
    passengers: batched<string, readonly PassengerView[]>(async (ids) => {
      const found = await bookings.passengers(signedIn(), ids);
      return (id) => found.get(id) ?? [];
    }),
    notifications: batched(async (ids) =>
      several(await notifications.ofEvents(signedIn(), ids), ({ eventId }) => eventId),
    ),
  };
}

/**
 * Nothing is remembered: a mutation's later fields and a subscription's later events read anew. An error
 * that `read` has for a key is that key's alone.
 */
function batched<Key, Value>(
  read: (keys: readonly Key[]) => Promise<(key: Key) => Value | Error>,
): Load<Key, Value> {
  let loader: DataLoader<Key, Value> | undefined;
  return (key) => {
    // Most requests need few of the loaders.
    loader ??= new DataLoader(
      async (keys) => {
        const valueOf = await read([...new Set(keys)]);
        return keys.map(valueOf);
      },
      { cache: false },
    );
    return loader.load(key);
  };
}

function one<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): (key: Key) => Item | null {
  const found = new Map(items.map((item) => [keyOf(item), item]));
  return (key) => found.get(key) ?? null;
}

function several<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): (key: Key) => readonly Item[] {
  const found = Map.groupBy(items, keyOf);
  return (key) => found.get(key) ?? [];
}
