import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import type { Admit } from "../../web/client-address.ts";
import { closesAfter, type Flight, type FlightView } from "../model/flight.ts";

import { dayAt } from "./airports.ts";
import { calendarOf } from "./flight-calendar.ts";
import type { RawParameters } from "./flight-parameters.ts";
import { readCalendarSearch, readFlightSearch } from "./flight-search.ts";
import { flightView } from "./flight-view.ts";
import type { FlightCalendar, FlightSearchResult } from "./flight.schema.ts";
import {
  countFlights,
  flightById,
  flightPages,
  flightsByIds,
  searchFlights,
} from "./flights.sql.ts";

/** What a flight of a search costs, in fields of a response (see `Admit`). */
const fieldsOfFlight = 15;
/** The same for a day of a calendar, which reads all of its flights. */
const fieldsOfDay = 250;

/** Public: these functions need no authenticated caller. Searches call `admit` before they read. */
export interface Flights {
  /**
   * Returns flights of one calendar day at the origin that can be booked now and have enough seats left,
   * earliest departure first. An unknown airport has no flights. Throws `invalid-parameter`, as `calendar` does.
   */
  search(raw: RawParameters, admit: Admit): Promise<FlightSearchResult>;
  /** The lowest price of each calendar day at the origin, among the flights that a search returns. */
  calendar(raw: RawParameters, admit: Admit): Promise<FlightCalendar>;
  /** Throws `flight-not-found`. */
  read(id: Flight["id"]): Promise<FlightView>;
  /** The flights among `ids` that exist, in any order. */
  find(ids: readonly Flight["id"][]): Promise<FlightView[]>;
  /** All flights, including departed ones, most recently added first. */
  list(request: PageRequest<Flight["id"]>): Promise<Page<FlightView>>;
}

export function flights(storage: Storage, clock: Clock): Flights {
  const leavesAfter = () => closesAfter(new Date(clock.now()));
  return {
    async search(raw, admit) {
      const { departureDate, page, limit, ...journey } = readFlightSearch(raw);
      await admit(limit * fieldsOfFlight);
      const day = dayAt(journey.origin, departureDate);
      const query = day && {
        ...journey,
        from: day.from,
        until: day.to,
        leavesAfter: leavesAfter(),
      };
      const offset = (page - 1) * limit;
      const [found, [count]] = await Promise.all([
        query ? storage.all(searchFlights, { ...query, limit, offset }) : [],
        query ? storage.all(countFlights, query) : [],
      ]);
      return {
        flights: found.map(flightView),
        totalResults: count?.total ?? 0,
        page,
        pageSize: limit,
      };
    },
    async calendar(raw, admit) {
      const { dates, ...journey } = readCalendarSearch(raw);
      await admit(dates.length * fieldsOfDay);
      return calendarOf(storage, journey, dates, leavesAfter());
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
