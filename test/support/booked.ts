import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { at } from "../../src/base/payload.ts";

import { bookingBody, post } from "./flights.ts";
import { type RunningServer, runSkyhook } from "./program.ts";

/** Writes an import file with one flight of nine seats. */
export function flightsIn(folder: string): string {
  const file = join(folder, "flights.csv");
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  writeFileSync(
    file,
    `flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency
SK1,Skyhook Air,JFK,LHR,${day}T10:00:00Z,${day}T17:00:00Z,economy,9,99.50,USD
`,
  );
  return file;
}

/** Books a seat on the first flight. */
export async function book(
  server: RunningServer,
  headers: Record<string, string> = {},
): Promise<Response> {
  const token = (await runSkyhook(["token", "--email", "ada@example.com"], server)).out;
  return fetch(`${server.url}/v1/api/bookings`, {
    ...post(bookingBody(1), { ...headers, authorization: `Bearer ${token.trim()}` }),
  });
}

/** Adds a flight and books a seat on it. Returns the booking's id. */
export async function bookingOn(server: RunningServer): Promise<string> {
  await runSkyhook(["import", flightsIn(server.cwd)], server);
  return String(at(await (await book(server)).json(), "bookingId"));
}
