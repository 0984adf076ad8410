import { expect, test } from "bun:test";

import { AppError } from "../../../src/base/errors.ts";
import { makeId } from "../../../src/base/ids.ts";
import { disclosuresOf } from "../../../src/booking/personal-data/personal-data.sql.ts";
import { personalDataOpener } from "../../../src/booking/personal-data/personal-data.ts";
import { revealPassengers } from "../../../src/booking/personal-data/reveal.ts";
import { json } from "../../support/app.ts";
import { bookingsPath } from "../../support/bookings.ts";
import { failure } from "../../support/failure.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
/** That of the app. */
const seal = personalDataOpener([Buffer.alloc(32, 7)]);

test("who reads passports is recorded before they are returned, and only then", async () => {
  const { storage } = app.services;
  const { id } = await addFlight(app);
  const { bookingId: made } = await json(
    await app.as("user", bookingsPath, post(bookingBody(id, 3))),
  );
  const bookingId = `bk_${String(made).slice(3)}` as const;
  const asked = { bookingId, actor: "ada", reason: "a check" };
  const parts = { storage, seal, clock: app.clock, makeId };
  const recorded = () => storage.all(disclosuresOf, { bookingId });

  const keyless = revealPassengers({ ...parts, seal: personalDataOpener([]) }, asked);
  expect(String(await failure(keyless))).toContain("which is missing");
  const full = new AppError("unavailable", "The disk is full");
  const broken = { ...storage, atomically: () => Promise.reject(full) };
  expect(await failure(revealPassengers({ ...parts, storage: broken }, asked))).toBe(full);
  const nobody = revealPassengers(parts, { ...asked, bookingId: "bk_0" });
  expect(await failure(nobody)).toMatchObject({ code: "booking-not-found" });
  expect(await recorded()).toEqual([]);

  const passengers = await revealPassengers(parts, asked);
  expect(passengers).toMatchObject([
    { position: 1, passportNumber: "X0000001", dateOfBirth: "1990-04-12" },
    { position: 2, passportNumber: "X0000002" },
    { position: 3, passportNumber: "X0000003" },
  ]);
  expect(await recorded()).toMatchObject([{ actor: "ada", reason: "a check" }]);
});
