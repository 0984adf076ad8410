import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import { closesAfter, type Flight, type FlightView } from "../flight.ts";

import { airport, localDay } from "./airports.ts";
import { type RawFlightSearch, readFlightSearch } from "./flight-search.ts";
import { flightView } from "./flight-view.ts";
import type { FlightSearchResult } from "./flight.schema.ts";
import {
  countFlights,
  flightById,
  flightPages,
  flightsByIds,
  searchFlights,
} from "./flights.sql.ts";

/** Public: these functions need no authenticated caller. */
export interface Flights {
  /**
   * Returns flights of one calendar day at the origin that can be booked now and have enough seats left,
   * earliest departure first. An unknown airport has no flights. Throws `invalid-parameter`.
   */
  search(raw: RawFlightSearch): Promise<FlightSearchResult>;
  /** Throws `flight-not-found`. */
  read(id: Flight["id"]): Promise<FlightView>;
  /** The flights among `ids` that exist, in any order. */
  find(ids: readonly Flight["id"][]): Promise<FlightView[]>;
  /** All flights, including departed ones, most recently added first. */
  list(request: PageRequest<Flight["id"]>): Promise<Page<FlightView>>;
}

export function flights(storage: Storage, clock: Clock): Flights {
  return {
    async search(raw) {
      const search = readFlightSearch(raw);
      const { origin, destination, passengers, cabinClass, page, limit } = search;
      const from = airport(origin);
      const day = from === undefined ? null : localDay(from, search.departureDate);
      if (day === null) return { flights: [], totalResults: 0, page, pageSize: limit };
      const query = {
        origin,
        destination,
        from: day.from,
        until: day.to,
        leavesAfter: closesAfter(new Date(clock.now())),
        passengers,
        cabinClass,
      };
      const [found, [count]] = await Promise.all([
        storage.all(searchFlights, { ...query, limit, offset: (page - 1) * limit }),
        storage.all(countFlights, query),
      ]);
      return {
        flights: found.map(flightView),
        totalResults: count?.total ?? 0,
        page,
        pageSize: limit,
      };
    },
    async read(id) {
      const [flight] = await storage.all(flightById, { id });
      if (flight === undefined) throw new AppError("flight-not-found", "No flight has this id");
      return flightView(flight);
    },
    async find(ids) {
      return (await storage.all(flightsByIds, { ids })).map(flightView);
    },
    async list(request) {
      const page = await paginate(flightPages(storage, {}), request);
      return { ...page, data: page.data.map(flightView) };
    },
  };
}
