const dayMs = 86_400_000;

/** Flights of one day in a month, as NDJSON. The ids are 1, 2 and so on. */
export function flightLines(seats: readonly number[]): readonly string[] {
  const departureMs = Date.now() + 30 * dayMs;
  const time = (ms: number) => new Date(ms).toISOString();
  return seats.map((count, index) =>
    JSON.stringify({
      flightNumber: `SK${index + 1}`,
      airline: "Skyhook Air",
      origin: "JFK",
      destination: "LHR",
      departureTime: time(departureMs),
      arrivalTime: time(departureMs + dayMs / 4),
      cabinClass: "economy",
      seats: count,
      price: 499.5,
      currency: "USD",
    }),
  );
}
