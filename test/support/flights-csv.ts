/** One line of an import file. */
interface CsvFlight {
  readonly flightNumber: string;
  readonly origin?: string;
  readonly destination?: string;
  /** When it departs, in days from now, and how long it flies. */
  readonly inDays?: number;
  readonly lastsDays?: number;
  readonly cabinClass?: string;
  readonly seats?: number;
  readonly price?: number | string;
  readonly currency?: string;
}

export const csvHeader =
  "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency";

const startMs = Date.now();
const inDaysFromNow = (days: number) => new Date(startMs + days * 86_400_000).toISOString();

/** A flight in 30 days with 10 seats, but for what is given. */
export function csvLine({
  flightNumber,
  origin = "JFK",
  destination = "LHR",
  inDays = 30,
  lastsDays = 0.3,
  cabinClass = "economy",
  seats = 10,
  price = "499.50",
  currency = "USD",
}: CsvFlight): string {
  const times = [inDaysFromNow(inDays), inDaysFromNow(inDays + lastsDays)];
  const route = ["Skyhook Air", origin, destination];
  return [flightNumber, ...route, ...times, cabinClass, seats, price, currency].join();
}

/** An import file. */
export const csvOf = (flights: readonly CsvFlight[]): string =>
  [csvHeader, ...flights.map(csvLine)].join("\n");
