import { afterEach, expect, test } from "bun:test";

import { endExpiredOffers } from "../../../src/booking/changes/ended-offers.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, bookingsPath, changeCalls, flightBookings } from "../../support/bookings.ts";
import { passenger, post, seatsLeft } from "../../support/flights.ts";
import { expectHolds } from "../../support/holds.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const holdMs = 20 * 60_000;
const app = appForAll();
afterEach(() => expectHolds(app));
const { get } = bookingCalls(app);
const { call, offerPart, offerFlight, confirm, withdraw } = changeCalls(app);
const { flightIn, booked } = flightBookings(app, "OL");

test("an offer can be confirmed until it ends, and not at its very end", async () => {
  const [from, to] = [await flightIn(100), await flightIn(200)];
  const { id } = await booked(from, 2);
  for (const [afterMs, status] of [
    [holdMs, 409],
    [holdMs - 1, 200],
  ] as const) {
    const offered = await json(await offerFlight(id, to));
    // No time passes, so nothing ends the offer before.
    app.clock.jump(afterMs);
    await jsonWith(await confirm(id, offered["id"]), status);
  }
});

test("an offer releases its seats at its very end, and not before", async () => {
  const [from, to] = [await flightIn(100), await flightIn(200)];
  const { id } = await booked(from, 2);
  const { expiresAt } = await jsonWith(await offerFlight(id, to), 201);
  const log = createLog({ level: "silent", format: "json" });
  const end = endExpiredOffers({ storage: app.services.storage, log, seatsChanged: () => {} });
  for (const [earlyMs, isEnded, left] of [
    [1, false, 8],
    [0, true, 10],
  ] as const) {
    const at = new Date(Date.parse(String(expiresAt)) - earlyMs);
    // Guarantee: the API returned the id.
    expect(await end([id as `bk_${string}`], at)).toEqual([isEnded]);
    expect(await seatsLeft(app, to)).toBe(left);
  }
});

test("offers are among the three holds that a user has on a flight, unless they hold no seats", async () => {
  const [from, to] = [await flightIn(100), await flightIn(200)];
  await booked(to, 1, { hold: true });
  await booked(to, 1, { hold: true });
  const [first, second] = [await booked(from, 1), await booked(from, 2)];
  await jsonWith(await offerFlight(first.id, to), 201);
  expect(await jsonWith(await offerFlight(second.id, to), 422)).toMatchObject({
    code: "validation-failed",
    errors: [{ pointer: "/flightId" }],
  });
  expect(await seatsLeft(app, to)).toBe(7);
  const onTo = await booked(to, 2);
  await jsonWith(await offerPart(onTo.id, [1]), 201);
});

test("a booking can have a hundred offers, and shows the last twenty", async () => {
  const { id } = await booked(await flightIn(100), 2);
  const made: unknown[] = [];
  for (let number = 0; number < 100; number += 1) {
    made.push((await jsonWith(await offerPart(id, [1]), 201))["id"]);
    app.clock.advance(1);
  }
  expect(await jsonWith(await offerPart(id, [1]), 422)).toMatchObject({
    code: "validation-failed",
    detail: "A booking can have 100 offers. Cancel it and book again.",
  });
  const shown = itemsOf((await json(await get(id)))["changes"]).map((each) => each["id"]);
  expect(shown).toEqual(made.slice(-20).toReversed());
  await jsonWith(await confirm(id, made.at(-1)), 200);
});

test("a booking has no changes of another, whoever owns both", async () => {
  const [one, other] = [await booked(await flightIn(100), 1), await booked(await flightIn(100), 1)];
  const { id: change } = await json(await offerPart(one.id, [1]));
  const path = `${other.id}/changes/${String(change)}`;
  for (const response of [
    await call(path),
    await confirm(other.id, change),
    await withdraw(other.id, change),
  ]) {
    expect(await jsonWith(response, 404)).toMatchObject({ code: "not-found" });
  }
  await jsonWith(await confirm(one.id, change), 200);
});

test("a cancelled passenger is not corrected, and their passport may be another's", async () => {
  const { id } = await booked(await flightIn(100), 2);
  const correct = async (position: number, body: object) =>
    call(`${id}/passengers/${position}`, { ...post(body), method: "PATCH" });
  const { passportNumber } = passenger(2);
  await jsonWith(await correct(1, { passportNumber }), 422);
  const offered = await json(await offerPart(id, [2]));
  await jsonWith(await confirm(id, offered["id"]), 200);
  await jsonWith(await correct(2, { lastName: "X" }), 404);
  await jsonWith(await correct(1, { passportNumber }), 200);
});

test("a corrected name is found, and the wrong one is not", async () => {
  const passengers = [{ ...passenger(1), lastName: "Wröngly" }];
  const { id } = await booked(await flightIn(100), 1, { passengers });
  const found = async (q: string) =>
    (await listed(app, `${bookingsPath}?q=${encodeURIComponent(q)}`, "admin")).map(
      ({ id: of }) => of,
    );
  expect([await found("WRÖNGLY"), await found("RÏGHTLY")]).toEqual([[id], []]);
  const body = { ...post({ lastName: "Rïghtly" }), method: "PATCH" };
  await jsonWith(await call(`${id}/passengers/1`, body), 200);
  expect([await found("WRÖNGLY"), await found("RÏGHTLY")]).toEqual([[], [id]]);
});
