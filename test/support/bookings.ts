import { json, type TestApp } from "./app.ts";
import { bookingBody, post } from "./flights.ts";

export const bookingsPath = "/v1/api/bookings";

/** What users do with bookings. */
export const bookingCalls = (app: TestApp) => ({
  book: (flightId: number, passengers = 1, headers: Record<string, string> = {}, who = "ada") =>
    app.as("user", bookingsPath, post(bookingBody(flightId, passengers), headers), who),
  get: (id: unknown, who = "ada") => app.as("user", `${bookingsPath}/${String(id)}`, {}, who),
  quote: (id: unknown) => app.as("user", `${bookingsPath}/${String(id)}/cancellation`, {}, "ada"),
  cancel: (id: unknown, who = "ada") =>
    app.as("user", `${bookingsPath}/${String(id)}`, { method: "DELETE" }, who),
});

/** The number of items in a list. */
export async function totalOf(app: TestApp, list: string): Promise<unknown> {
  const { pagination } = await json(await app.as("admin", `${list}?include=total`));
  return typeof pagination === "object" && pagination && "total" in pagination && pagination.total;
}
