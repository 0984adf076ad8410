import { beforeAll, describe, expect, test } from "bun:test";

import { paymentStates } from "../../../src/booking/model/booking-words.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, bookingsPath, expire } from "../../support/bookings.ts";
import { addFlight } from "../../support/flights.ts";
import { dataOf } from "../../support/graphql.ts";
import { itemsOf } from "../../support/operator.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
const names = new Map<unknown, string>();
const name = (bookings: readonly Record<string, unknown>[]) =>
  bookings.map(({ id }) => names.get(id)).join(" ");

describe("GET /v1/api/bookings with filters", () => {
  beforeAll(async () => {
    const pay = payer(app);
    const { book } = bookingCalls(app);
    const london = await addFlight(app, { flightNumber: "SK1" });
    const paris = await addFlight(app, {
      flightNumber: "SK2",
      destination: "CDG",
      departureTime: new Date("2026-11-22T12:00Z"),
    });
    const hold = async (as: string) => {
      app.clock.advance(1_000);
      const booking = await holdSeat(app, london.id);
      names.set(booking, as);
      return booking;
    };
    const flown = await json(await book(paris.id, 1, {}, "bob"));
    names.set(flown["bookingId"], "flown");
    await expire(app, await hold("expired"));
    app.clock.advance(2 * 86_400_000);
    await pay("payment_intent.succeeded", { booking: await hold("paid") });
    for (const as of ["due", "repaid"]) {
      const booking = await hold(as);
      const payment = `pi_${as}`;
      await pay("payment_intent.succeeded", { booking, payment });
      await app.as("admin", `${bookingsPath}/${booking}`, { method: "DELETE" });
      const { refund } = await json(await app.as("admin", `${bookingsPath}/${booking}`));
      const amount = Math.round(Object(refund).amount * 100);
      if (as === "repaid") await pay("charge.refunded", { booking, payment, amount });
    }
    await pay("payment_intent.succeeded", { booking: await hold("short"), amount: 100 });
    await hold("held");
    app.clock.advance(1_000);
    const direct = await json(await book(london.id));
    names.set(direct["bookingId"], "direct");
  });

  test.each([
    ["", "direct held short repaid due paid expired flown"],
    ["status=held", "held short"],
    ["status=confirmed", "direct paid"],
    ["status=flown", "flown"],
    ["status=cancelled", "repaid due"],
    ["payment=unpaid", "held short expired"],
    ["payment=paid", "paid"],
    ["payment=at-booking", "direct flown"],
    ["payment=refund-due", "due"],
    ["payment=refunded", "repaid"],
    ["payment=problem", "short"],
    ["payment=paid&status=confirmed", "paid"],
    ["flight=sk2", "flown"],
    ["origin=jfk&destination=cdg", "flown"],
    ["destination=LHR&status=expired", "expired"],
    ["destination=JFK", ""],
    ["departsFrom=2026-11-22T12:00:00Z&departsTo=2026-11-22T12:00:01Z", "flown"],
    ["departsTo=2026-11-22T12:00:00Z", ""],
    ["departsFrom=2026-11-22T12:00:00.001Z&payment=paid", "paid"],
    ["to=2026-11-22T00:00:00Z", "expired flown"],
    ["from=2026-11-22T00:00:00Z&status=cancelled", "repaid due"],
    ["q=SK1&status=held", "held short"],
    ["q=ada@example.com&flight=SK2", "flown"],
    ["userId=bob&status=confirmed", ""],
  ])("?%s lists the matching bookings, page by page, and counts them", async (query, expected) => {
    let path: string | undefined = `${bookingsPath}?limit=2&include=total&${query}`;
    const found: Record<string, unknown>[] = [];
    const totals = new Set<unknown>();
    while (path !== undefined) {
      const response: Response = await app.as("admin", path);
      path = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      const { data, pagination } = await json(response);
      found.push(...itemsOf(data));
      totals.add(Object(pagination).total);
    }
    expect(name(found)).toBe(expected);
    expect([...totals]).toEqual([found.length]);
  });

  test("each booking shows the state that the filter finds it by, and what is to be refunded", async () => {
    for (const payment of paymentStates) {
      const found = await json(await app.as("admin", `${bookingsPath}?payment=${payment}`));
      for (const each of itemsOf(found["data"])) expect(each["payment"]).toBe(payment);
    }
    const all = itemsOf((await json(await app.as("admin", bookingsPath)))["data"]);
    expect(new Set(all.map(({ payment }) => payment))).toEqual(new Set(paymentStates));
    const refunds = all.filter((each) => "refund" in each);
    expect(name(refunds)).toBe("repaid due");
    const refund = { amount: 499.5, refunded: 0, currency: "USD", status: "pending" };
    expect(refunds[1]).toMatchObject({ refund, leadPassenger: "Ada Lovelace" });
  });

  test("users do not get what only admins see", async () => {
    const [own] = itemsOf((await json(await app.as("user", bookingsPath)))["data"]);
    expect(own).toHaveProperty("reference");
    for (const field of ["payment", "refund", "leadPassenger"]) {
      expect(own).not.toHaveProperty(field);
    }
  });

  test("GraphQL has the same filters", async () => {
    const query = `{ bookings(status: held, payment: "problem", flight: "SK1") { nodes { bookingId } } }`;
    const { bookings } = await dataOf(app, "admin", query);
    expect(itemsOf(Object(bookings).nodes).map(({ bookingId }) => names.get(bookingId))).toEqual([
      "short",
    ]);
  });

  test.each(["status=lost", "payment=due", "flight=", "origin=LOND", "departsFrom=2026-11-22"])(
    "?%s is 400",
    async (query) => {
      const response = await app.as("admin", `${bookingsPath}?${query}`);
      expect(await jsonWith(response, 400)).toMatchObject({ code: "invalid-parameter" });
    },
  );

  test("is 403 for the roles user and operator, whose own list has no filters", async () => {
    for (const role of ["user", "operator"] as const) {
      for (const query of [
        "status=held",
        "payment=problem",
        "flight=SK1",
        "to=2027-01-01T00:00:00Z",
      ]) {
        const response = await app.as(role, `${bookingsPath}?${query}`);
        expect(await jsonWith(response, 403)).toMatchObject({ code: "insufficient-scope" });
      }
    }
  });
});
