import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { at } from "../../src/base/payload.ts";

import { csvOf } from "./flights-csv.ts";
import { bookingBody, post } from "./flights.ts";
import { type RunningServer, runSkyhook } from "./program.ts";

/** Writes an import file with one flight of nine seats. */
export function flightsIn(folder: string): string {
  const file = join(folder, "flights.csv");
  writeFileSync(file, csvOf([{ flightNumber: "SK1", seats: 9, price: "99.50" }]));
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
