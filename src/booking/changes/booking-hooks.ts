import type { Storage } from "../../db/storage.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { bookingEventKey, type EventMaking } from "../events/own-events.ts";
import { flightById } from "../flights/flights.sql.ts";
import type { ChangesOfBookings } from "../model/changes-of-bookings.ts";

import { endingOf, makingOf } from "./change-making.ts";
import { changesShown } from "./change-view.ts";
import { changesOfBookings, maxOffers, openChangesOf } from "./changes.sql.ts";
import { asSold, changesMade, madeTitle } from "./made-changes.ts";

interface Parts extends EventMaking {
  readonly storage: Storage;
  readonly outbox: Outbox;
}

export function bookingHooks(parts: Parts): ChangesOfBookings {
  const { storage } = parts;

  return {
    shown: (booking) => changesShown(storage, booking),
    async history(booking) {
      const made = await changesMade(storage, booking);
      return {
        sold: asSold(booking, made),
        made: made.map((change) => ({
          at: change.confirmedAt ?? change.updatedAt,
          title: madeTitle(change),
          key: bookingEventKey("booking.changed", booking.id, change.id),
          isPaid: change.changeTotalMinor > 0,
        })),
      };
    },
    async payable(booking) {
      const ofBooking = { ids: [booking.id], limit: maxOffers };
      const offers = booking.revision === 0 ? [] : await storage.all(changesOfBookings, ofBooking);
      const pending = offers.find(({ status }) => status === "pending") ?? null;
      return {
        pending,
        isOfOffer: (minor) =>
          minor !== null && minor > 0 && offers.some((each) => each.changeTotalMinor === minor),
        async making(now) {
          if (pending === null) return null;
          const [newFlight] = await storage.all(flightById, { id: pending.newFlightId ?? 0 });
          const caller = { actor: null, paidMinor: pending.changeTotalMinor, payments: [] };
          return makingOf(parts, booking, pending, newFlight ?? null, caller, now);
        },
      };
    },
    async settled({ id }, isOffered, now) {
      const [open] = await storage.all(openChangesOf, { ids: [id] });
      return open === undefined ? null : endingOf(open, isOffered ? "confirmed" : "withdrawn", now);
    },
  };
}
