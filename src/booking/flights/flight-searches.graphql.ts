import type { Builder } from "../../web/graphql/builder.ts";
import { argumentsOf, objectOf } from "../../web/graphql/from-schema.ts";

import { maxCalendarDays } from "./flight-search.ts";
import {
  cheapestFlightSchema,
  flightCalendarQuery,
  flightCalendarSchema,
  flightDaySchema,
  flightSearchQuery,
  flightSearchResultSchema,
} from "./flight.schema.ts";
import type { FlightTypes } from "./flights.graphql.ts";
import type { Flights } from "./flights.ts";

/** Searches for flights. Public. */
export function flightSearchesGraphql(
  builder: Builder,
  flights: Flights,
  { FlightType, CabinClass, PriceType }: FlightTypes,
) {
  const CheapestType = objectOf(builder, cheapestFlightSchema, { price: PriceType });
  const DayType = objectOf(builder, flightDaySchema, { cheapest: [CheapestType] });
  const CalendarType = objectOf(builder, flightCalendarSchema, { days: [DayType] });
  const SearchResultType = objectOf(builder, flightSearchResultSchema, {
    flights: [FlightType],
  });
  builder.queryFields((t) => ({
    searchFlights: t.field({
      type: SearchResultType,
      description: "Flights on one day that can be booked and have enough free seats.",
      args: argumentsOf(t.arg, flightSearchQuery, { cabinClass: CabinClass }),
      resolve: (_, args, { admit }) => flights.search(args, admit),
    }),
    flightCalendar: t.field({
      type: CalendarType,
      description: `The lowest prices by day, among the flights of searchFlights. At most ${maxCalendarDays} days.`,
      args: argumentsOf(t.arg, flightCalendarQuery, { cabinClass: CabinClass }),
      resolve: (_, args, { admit }) => flights.calendar(args, admit),
    }),
  }));
}
