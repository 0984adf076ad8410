import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import type { Admit } from "../../web/client-address.ts";
import { closesAfter, type Flight, type FlightView } from "../flight.ts";

import { dayAt } from "./airports.ts";
import { calendars } from "./flight-calendar.ts";
import type { RawParameters } from "./flight-parameters.ts";
import { readCalendarSearch, readFlightSearch, readTripSearch } from "./flight-search.ts";
import { tripsOf } from "./flight-trips.ts";
import { flightView } from "./flight-view.ts";
import type { FlightCalendar, FlightSearchResult, FlightTrips } from "./flight.schema.ts";
import {
  countFlights,
  flightById,
  flightPages,
  flightsByIds,
  searchFlights,
} from "./flights.sql.ts";

/** What searches cost, in fields of a response (see `Admit`). A day of a calendar reads all of its flights. */
const [fieldsOfFlight, fieldsOfDay, fieldsOfTrips] = [15, 250, 2_000];

/** Public: these functions need no authenticated caller. Searches call `admit` before they read. */
export interface Flights {
  /**
   * Returns flights of one calendar day at the origin that can be booked now and have enough seats left,
   * earliest departure first, and with `flexibleDays` the calendar around that day. An unknown airport has
   * no flights. Throws `invalid-parameter`, as `calendar` and `trips` do.
   */
  search(raw: RawParameters, admit: Admit): Promise<FlightSearchResult>;
  /** The lowest price of each calendar day at the origin, among the flights that a search returns. */
  calendar(raw: RawParameters, admit: Admit): Promise<FlightCalendar>;
  /** Pairs of an outbound and an inbound flight, priced together, cheapest first. */
  trips(raw: RawParameters, admit: Admit): Promise<FlightTrips>;
  /** Throws `flight-not-found`. */
  read(id: Flight["id"]): Promise<FlightView>;
  /** The flights among `ids` that exist, in any order. */
  find(ids: readonly Flight["id"][]): Promise<FlightView[]>;
  /** All flights, including departed ones, most recently added first. */
  list(request: PageRequest<Flight["id"]>): Promise<Page<FlightView>>;
}

export function flights(storage: Storage, clock: Clock): Flights {
  const calendarOf = calendars(storage);
  const leavesAfter = () => closesAfter(new Date(clock.now()));
  return {
    async search(raw, admit) {
      const { departureDate, page, limit, dates, ...journey } = readFlightSearch(raw);
      await admit(limit * fieldsOfFlight + dates.length * fieldsOfDay);
      const after = leavesAfter();
      const day = dayAt(journey.origin, departureDate);
      const query = day && { ...journey, from: day.from, until: day.to, leavesAfter: after };
      const offset = (page - 1) * limit;
      const [found, [count], calendar] = await Promise.all([
        query ? storage.all(searchFlights, { ...query, limit, offset }) : [],
        query ? storage.all(countFlights, query) : [],
        dates.length === 0 ? null : calendarOf(journey, dates, after),
      ]);
      return {
        flights: found.map(flightView),
        totalResults: count?.total ?? 0,
        page,
        pageSize: limit,
        ...(calendar && { calendar }),
      };
    },
    async calendar(raw, admit) {
      const { dates, ...journey } = readCalendarSearch(raw);
      await admit(dates.length * fieldsOfDay);
      return calendarOf(journey, dates, leavesAfter());
    },
    async trips(raw, admit) {
      const search = readTripSearch(raw);
      await admit(fieldsOfTrips);
      return tripsOf(storage, search, leavesAfter());
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
