import { beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingsPath as path } from "../../support/bookings.ts";
import { addFlight, bookingBody, passenger, post, seatsLeft } from "../../support/flights.ts";
import { ask } from "../../support/graphql.ts";
import { itemsOf } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const app = appForAll();

const good = () => bookingBody(1);
const withPassenger = (fields: object) => ({
  ...good(),
  passengers: [{ ...passenger(), ...fields }],
});
const without = (field: string) => ({ ...good(), [field]: undefined });
const send = (body: unknown, headers = {}) => app.as("user", path, post(body, headers), "ada");

describe("a booking request", () => {
  beforeAll(async () => {
    await app.restart();
    await addFlight(app);
  });

  // What is wrong, the body, and the field that the response names.
  const malformed: readonly (readonly [string, unknown, string])[] = [
    ["invalid JSON", "{", ""],
    ["an empty body", "", ""],
    ["an array", [], ""],
    ["null", null, ""],
    ["a string as flightId", { ...good(), flightId: "1" }, "/flightId"],
    ["a fraction as flightId", { ...good(), flightId: 1.5 }, "/flightId"],
    ["null as flightId", { ...good(), flightId: null }, "/flightId"],
    ["an object as passengers", { ...good(), passengers: {} }, "/passengers"],
    ["a string as a passenger", { ...good(), passengers: ["Ada"] }, "/passengers/0"],
    ["a number as a name", withPassenger({ firstName: 1 }), "/passengers/0/firstName"],
    ["a number as paymentMethod", { ...good(), paymentMethod: 1 }, "/paymentMethod"],
  ];
  const tooLong = `${"a".repeat(64)}@${"b".repeat(250)}.com`;
  const same = [passenger(), { ...passenger(), passportNumber: "x00-000 01" }];
  const wrong: typeof malformed = [
    ["no flightId", without("flightId"), "/flightId"],
    ["no passengers", without("passengers"), "/passengers"],
    ["no contactEmail", without("contactEmail"), "/contactEmail"],
    ["no paymentMethod", without("paymentMethod"), "/paymentMethod"],
    ["flightId 0", { ...good(), flightId: 0 }, "/flightId"],
    ["0 passengers", bookingBody(1, 0), "/passengers"],
    ["10 passengers", bookingBody(1, 10), "/passengers"],
    ["an unknown paymentMethod", { ...good(), paymentMethod: "cash" }, "/paymentMethod"],
    ["a contactEmail without @", { ...good(), contactEmail: "ada" }, "/contactEmail"],
    ["a contactEmail that is too long", { ...good(), contactEmail: tooLong }, "/contactEmail"],
    ["one passport number twice", { ...good(), passengers: same }, "/passengers/1/passportNumber"],
  ];
  const wrongPassengers: readonly (readonly [string, object])[] = [
    ["no first name", { firstName: undefined }],
    ["an empty name", { lastName: "" }],
    ["a blank name", { lastName: "  " }],
    ["a name of Unicode white space", { lastName: "\u00a0\u3000\u2028\ufeff" }],
    ["a name of 61 characters", { lastName: "a".repeat(61) }],
    ["NUL in a name", { lastName: "a\u0000" }],
    ["a line break in a name", { lastName: "a\nb" }],
    ["a birth date that does not exist", { dateOfBirth: "1990-02-30" }],
    ["a birth date in another format", { dateOfBirth: "12.04.1990" }],
    ["a birth date in the future", { dateOfBirth: "2030-01-01" }],
    ["a birth date 121 years ago", { dateOfBirth: "1905-01-01" }],
    ["a passport number of 4 characters", { passportNumber: "X-1 23" }],
    ["a passport number of 10 characters", { passportNumber: "X1234 56789" }],
    ["a passport number with a dot", { passportNumber: "X12.3456" }],
  ];

  test.each([
    ...malformed.map((row) => [...row, "invalid-body"] as const),
    ...wrong.map((row) => [...row, "validation-failed"] as const),
    ...wrongPassengers.map(([what, fields]) => {
      const pointer = `/passengers/0/${Object.keys(fields).join()}`;
      return [what, withPassenger(fields), pointer, "validation-failed"] as const;
    }),
  ])("with %s is rejected, naming the field", async (_, body, pointer, code) => {
    const response = await send(body);
    const problem = await jsonWith(response, code === "invalid-body" ? 400 : 422);
    expect(problem).toMatchObject({ code });
    if (pointer !== "") expect(problem).toMatchObject({ errors: [{ pointer }] });
    expect(JSON.stringify(problem)).not.toMatch(/X0000001|1990-04-12/);
    expect(await seatsLeft(app, 1)).toBe(10);
  });
});

describe("a booking request", () => {
  beforeEach(() => app.restart());

  test("gets all of its errors in one response, from REST and GraphQL", async () => {
    await addFlight(app);
    const body = {
      flightId: 1,
      passengers: [
        { ...passenger(1), firstName: "", dateOfBirth: "1990-02-31" },
        { ...passenger(2), passportNumber: "X-0000001", email: "ada" },
        { ...passenger(3), dateOfBirth: "2030-01-01" },
        { ...passenger(4), dateOfBirth: "soon", passportNumber: "" },
        { ...passenger(5), passportNumber: "" },
      ],
      contactEmail: "",
      paymentMethod: "card",
    };
    const errorsOf = (index: number, ...fields: readonly string[]) =>
      fields.map((field) => `/passengers/${index}/${field}`);
    const pointers = [
      "/contactEmail",
      ...errorsOf(0, "dateOfBirth", "firstName"),
      ...errorsOf(1, "email", "passportNumber"),
      ...errorsOf(2, "dateOfBirth"),
      ...errorsOf(3, "dateOfBirth", "passportNumber"),
      ...errorsOf(4, "passportNumber"),
    ];
    const pointersIn = (errors: unknown) =>
      itemsOf(errors)
        .map(({ pointer }) => String(pointer))
        .toSorted();
    const response = await send(body);
    expect(response.status).toBe(422);
    expect(pointersIn((await json(response))["errors"])).toEqual(pointers);
    const mutation =
      "mutation ($input: CreateBookingInput!) { createBooking(input: $input) { id } }";
    const { errors } = await ask(app, "user", mutation, { input: body });
    expect(errors).toMatchObject([{ extensions: { code: "validation-failed", status: 422 } }]);
    expect(pointersIn(errors?.[0]?.extensions["errors"])).toEqual(pointers);
    // One wrong type makes the response 400. It lists the broken rules too.
    const mixed = await send({ ...body, flightId: "1" });
    expect(mixed.status).toBe(400);
    expect(pointersIn((await json(mixed))["errors"])).toEqual([
      ...pointers.slice(0, 1),
      "/flightId",
      ...pointers.slice(1),
    ]);
  });

  test.each([
    [
      "/passengers/0/dateOfBirth",
      { ...good(), flightId: "1", passengers: [{ dateOfBirth: "1990-02-31" }] },
    ],
    ["/passengers", { ...good(), passengers: "Ada" }],
    ["/passengers/1", { ...good(), passengers: [passenger(), null] }],
  ])("that is mostly malformed still gets the error at %s", async (pointer, body) => {
    const problem = await json(await send(body));
    expect(itemsOf(problem["errors"]).map((error) => error["pointer"])).toContain(pointer);
  });

  test("needs birth dates in the past and less than 120 years ago, by the day in UTC", async () => {
    await addFlight(app);
    const born = async (years: number, days: number) => {
      const now = new Date(app.clock.now());
      const date = Date.UTC(
        now.getUTCFullYear() - years,
        now.getUTCMonth(),
        now.getUTCDate() + days,
      );
      const dateOfBirth = new Date(date).toISOString().slice(0, 10);
      return (await send(withPassenger({ dateOfBirth }))).status;
    };
    for (let hour = 0; hour < 24; hour += 6) {
      expect([await born(0, 0), await born(0, -1)]).toEqual([422, 201]);
      expect([await born(120, 0), await born(120, 1)]).toEqual([422, 201]);
      app.clock.advance(6 * hourMs);
    }
  });

  test("may have emoji and any script in names, and unknown fields", async () => {
    await addFlight(app);
    const body = {
      ...withPassenger({ firstName: "🛩️", lastName: "ณัฐพงศ์" }),
      extra: { deep: [1] },
    };
    expect((await send(body)).status).toBe(201);
  });

  test("may have 60 characters in a name, of any script", async () => {
    await addFlight(app);
    for (const letter of ["a", "é", "𠮷", "🛩"]) {
      const named = (length: number) => withPassenger({ firstName: letter.repeat(length) });
      expect([letter, (await send(named(60))).status]).toEqual([letter, 201]);
      expect([letter, (await send(named(61))).status]).toEqual([letter, 422]);
    }
  });

  test("for an unknown flight is 404, and for one that departs within the hour 422", async () => {
    expect(await json(await send(bookingBody(404)))).toMatchObject({ code: "flight-not-found" });
    for (const minutes of [-1, 0, 60]) {
      const departureTime = new Date(app.clock.now() + minutes * 60_000);
      const { id } = await addFlight(app, { departureTime });
      const response = await send(bookingBody(id));
      expect(await jsonWith(response, 422)).toMatchObject({ code: "booking-closed" });
    }
  });

  test("with another media type is 415, with too many bytes 413, nested too deeply or not UTF-8 400", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
      const response = await send(good(), { "content-type": type });
      expect(response.status).toBe(415);
      expect(response.headers.get("accept")).toBe("application/json");
    }
    expect((await send({ ...good(), extra: "x".repeat(256 * 1024) })).status).toBe(413);
    const binary = { ...post(""), body: Buffer.from([0x22, 0xff, 0x22]) };
    expect((await app.as("user", path, binary)).status).toBe(400);
    expect((await send(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).status).toBe(400);
  });
});
