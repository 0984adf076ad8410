import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import fc from "fast-check";

import { json, startApp, type TestApp } from "../../support/app.ts";
import { addFlight, bookingBody, passenger, post, seatsLeft } from "../../support/flights.ts";
import { ask } from "../../support/graphql.ts";
import { itemsOf } from "../../support/operator.ts";
import { runs } from "../../support/runs.ts";

const path = "/v1/api/bookings";
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let app: TestApp;
beforeEach(async () => {
  app = await startApp();
});
afterEach(() => app.stop());

const book = (
  flightId: number,
  passengers = 1,
  headers: Record<string, string> = {},
  who = "ada",
) => app.as("user", path, post(bookingBody(flightId, passengers), headers), who);
const get = (id: unknown, who = "ada") => app.as("user", `${path}/${String(id)}`, {}, who);
const quote = (id: unknown) => app.as("user", `${path}/${String(id)}/cancellation`, {}, "ada");
const cancel = (id: unknown, who = "ada") =>
  app.as("user", `${path}/${String(id)}`, { method: "DELETE" }, who);
const total = async (list: string): Promise<unknown> => {
  const { pagination } = await json(await app.as("admin", `${list}?include=total`));
  return typeof pagination === "object" && pagination && "total" in pagination && pagination.total;
};

describe("a booking", () => {
  test("is created with 201 and exactly the specified fields", async () => {
    const flight = await addFlight(app);
    const response = await book(flight.id, 2);
    expect(response.status).toBe(201);
    const booking = await json(response);
    expect(booking).toEqual({
      bookingId: expect.stringMatching(/^bk_[0-9a-f]{32}$/),
      status: "confirmed",
      totalPrice: 999,
      currency: "USD",
      confirmationSentTo: "ada@example.com",
      createdAt: new Date(app.clock.now()).toISOString(),
      reference: expect.stringMatching(/^[A-Z]{6}$/),
    });
    expect(response.headers.get("location")).toBe(`${path}/${String(booking["bookingId"])}`);
    expect(await seatsLeft(app, flight.id)).toBe(8);
  });

  test("is returned to its owner with masked passports and birth dates", async () => {
    const flight = await addFlight(app);
    const made = await json(await book(flight.id));
    const response = await get(made["bookingId"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await json(response)).toMatchObject({
      ...made,
      id: made["bookingId"],
      seats: 1,
      userId: "ada",
      contactEmail: "ada@example.com",
      paymentMethod: "card",
      cancellation: null,
      flight: { id: flight.id, flightNumber: "SK100", duration: "7h 00m" },
      passengers: [
        {
          firstName: "Ada",
          lastName: "Lovelace",
          email: "ada@example.com",
          dateOfBirth: "****-**-**",
          passportNumber: "****0001",
        },
      ],
    });
  });

  test("has the status flown after its flight has departed", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    app.clock.advance(31 * dayMs);
    expect(await json(await get(bookingId))).toMatchObject({ status: "flown" });
  });

  test("creates events for operators without personal data", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    await cancel(bookingId);
    const text = await (await app.as("operator", "/v1/events?provider=bookings")).text();
    const { data } = JSON.parse(text) as { data: { type: string; title: string }[] };
    expect(data.map(({ type }) => type)).toEqual(["booking.cancelled", "booking.confirmed"]);
    expect(data[1]?.title).toMatch(/^Booking [A-Z]{6} confirmed: 1 seat on SK100 JFK → LHR, /);
    expect(text).not.toMatch(/X0000001|1990-04-12|ada@example/);
    expect(await total("/v1/notifications")).toBe(2);
  });

  test("has names that are trimmed and composed (NFC)", async () => {
    const { id } = await addFlight(app);
    const body = bookingBody(id);
    const named = {
      ...passenger(),
      firstName: "  Zoe\u0308 ",
      email: "Jos\u00c9@BÜCHER.example",
      passportNumber: " ab-12 3\u20114 5 ",
    };
    const made = await app.as("user", path, post({ ...body, passengers: [named] }), "ada");
    const { bookingId } = await json(made);
    expect(await json(await get(bookingId))).toMatchObject({
      passengers: [{ firstName: "Zoë", email: "josé@bücher.example", passportNumber: "***2345" }],
    });
  });

  test("in yen or dinars has the decimals of its currency", async () => {
    const dinars = { currency: "KWD", priceMinor: 49_955 };
    const yen = await addFlight(app, { currency: "JPY", priceMinor: 49_950 });
    const dinar = await addFlight(app, { ...dinars, flightNumber: "SK200" });
    expect(await json(await book(yen.id))).toMatchObject({ totalPrice: 49_950, currency: "JPY" });
    expect(await json(await book(dinar.id))).toMatchObject({ totalPrice: 49.955 });
  });
});

describe("access to bookings", () => {
  test("answers a stranger byte for byte as for a missing booking, except for ids [API1-1]", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    const missing = `bk_${"0".repeat(32)}`;
    const headers = { "x-request-id": "same" };
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/cancellation"],
    ] as const) {
      const ask = async (booking: unknown) => {
        const init = { method, headers };
        const response = await app.as("user", `${path}/${String(booking)}${suffix}`, init, "eve");
        expect(response.status).toBe(404);
        return [await response.text(), ...response.headers].join();
      };
      expect(await ask(bookingId)).toBe(await ask(missing));
    }
    expect(await json(await get(bookingId))).toMatchObject({ status: "confirmed" });
  });

  test("lets an admin read and cancel any booking, but not an operator [API5-3]", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    const of = `${path}/${String(bookingId)}`;
    expect((await app.as("operator", of)).status).toBe(404);
    expect((await app.as("admin", of)).status).toBe(200);
    expect((await app.as("admin", of, { method: "DELETE" })).status).toBe(200);
  });

  test("lists a user's own bookings, and for admins all or one user's", async () => {
    const { id } = await addFlight(app);
    for (const who of ["ada", "bob", "ada"]) await book(id, 1, {}, who);
    const owners = async (role: "user" | "admin", query: string, who: string) => {
      const { data } = await json(await app.as(role, `${path}${query}`, {}, who));
      return Array.isArray(data) ? data.map((item: { userId: string }) => item.userId) : [];
    };
    expect(await owners("user", "", "ada")).toEqual(["ada", "ada"]);
    expect(await owners("user", "?userId=ada", "ada")).toEqual(["ada", "ada"]);
    const anothers = await app.as("user", `${path}?userId=bob`, {}, "ada");
    expect(anothers.status).toBe(403);
    expect(await json(anothers)).toMatchObject({ code: "insufficient-scope" });
    expect(await owners("admin", "", "root")).toEqual(["ada", "bob", "ada"]);
    expect(await owners("admin", "?userId=bob", "root")).toEqual(["bob"]);
    expect(await owners("user", "", "eve")).toEqual([]);
  });

  test.each([
    ["POST", path],
    ["GET", path],
    ["GET", `${path}/bk_1`],
    ["DELETE", `${path}/bk_1`],
    ["GET", `${path}/bk_1/cancellation`],
  ])("%s %s needs a token", async (method, at) => {
    expect((await app.fetch(at, { method })).status).toBe(401);
  });
});

describe("seats", () => {
  test("are never oversold: of 700 concurrent bookings for 500 seats, 500 succeed and 200 are 409 [API6-1]", async () => {
    const { id } = await addFlight(app, { seats: 500 });
    const responses = await Promise.all(
      Array.from({ length: 700 }, (_, n) => book(id, 1, {}, `user${n}`)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(500);
    const conflicts = responses.filter(({ status }) => status === 409);
    expect(conflicts).toHaveLength(200);
    for (const response of conflicts) {
      expect(await json(response)).toMatchObject({
        code: "no-seats",
        detail: "No seats are left",
        seatsAvailable: 0,
      });
    }
    expect(await seatsLeft(app, id)).toBe(0);
    expect(await total(path)).toBe(500);
    expect(await total("/v1/events")).toBe(500);
  });

  test("are sold all or none, and the error includes the number left", async () => {
    const { id } = await addFlight(app, { seats: 4 });
    await book(id, 3);
    const response = await book(id, 2);
    expect(response.status).toBe(409);
    expect(await json(response)).toMatchObject({
      code: "no-seats",
      detail: "Only 1 seat is left",
      seatsAvailable: 1,
    });
    expect((await book(id, 1)).status).toBe(201);
  });

  test("are released once when many requests cancel at once [API6-2]", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id, 4));
    await book(id, 3);
    const answers = await Promise.all(Array.from({ length: 50 }, () => cancel(bookingId)));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await seatsLeft(app, id)).toBe(7);
    expect(await total("/v1/events")).toBe(3);
  });

  test("sold and left add up to the cabin under any mix of bookings, cancellations and retries", async () => {
    const command = fc.record({
      kind: fc.constantFrom("book" as const, "book with a key" as const, "cancel" as const),
      who: fc.constantFrom("ada", "bob"),
      seats: fc.integer({ min: 1, max: 4 }),
      key: fc.constantFrom("k1", "k2", "k3"),
      target: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(command, { maxLength: 8 }), { maxLength: 6 }),
        async (bursts) => {
          const one = await startApp();
          const { id } = await addFlight(one, { seats: 12 });
          const made = new Map<string, { seats: number; who: string }>();
          const cancelled = new Set<string>();
          const carryOut = async ({ kind, who, seats, key, target }: (typeof bursts)[0][0]) => {
            if (kind === "cancel") {
              const [bookingId, booking] = [...made][target % Math.max(made.size, 1)] ?? [];
              if (bookingId === undefined || booking === undefined) return;
              const init = { method: "DELETE" };
              const answer = await one.as("user", `${path}/${bookingId}`, init, booking.who);
              expect(answer.status).toBe(200);
              cancelled.add(bookingId);
              return;
            }
            const headers = kind === "book" ? {} : { "idempotency-key": key };
            const answer = await one.as("user", path, post(bookingBody(id, seats), headers), who);
            expect([201, 409, 422]).toContain(answer.status);
            const { bookingId } = await json(answer);
            if (answer.status === 201) made.set(String(bookingId), { seats, who });
          };
          for (const burst of bursts) {
            await Promise.all(burst.map(carryOut));
            const sold = [...made]
              .filter(([bookingId]) => !cancelled.has(bookingId))
              .reduce((sum, [, { seats }]) => sum + seats, 0);
            expect(await seatsLeft(one, id)).toBe(12 - sold);
          }
          await one.stop();
        },
      ),
      { numRuns: runs(40) },
    );
  });
});

describe("Idempotency-Key", () => {
  const keyed = (id: number, key: string, passengers = 1, who = "ada") =>
    book(id, passengers, { "idempotency-key": key }, who);

  test("makes a retry return the original response and book nothing", async () => {
    const { id } = await addFlight(app);
    const first = await keyed(id, "a");
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const made = await json(first);
    await cancel(made["bookingId"]);
    app.clock.advance(23 * hourMs);
    const second = await keyed(id, '"a"');
    expect(second.status).toBe(201);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(await json(second)).toEqual(made);
    expect(await seatsLeft(app, id)).toBe(10);
  });

  test("makes 50 concurrent requests book once [API6-3]", async () => {
    const { id } = await addFlight(app);
    const answers = await Promise.all(Array.from({ length: 50 }, () => keyed(id, "a", 2)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed).toHaveLength(49);
    expect(await seatsLeft(app, id)).toBe(8);
  });

  test("is 422 with another request", async () => {
    const { id } = await addFlight(app);
    await keyed(id, "a");
    const response = await keyed(id, "a", 2);
    expect(response.status).toBe(422);
    expect(await json(response)).toMatchObject({ code: "idempotency-key-reused" });
  });

  test("is independent for another user, and expires after a day [API1-5]", async () => {
    const { id } = await addFlight(app);
    await keyed(id, "a");
    expect((await keyed(id, "a", 2, "bob")).status).toBe(201);
    app.clock.advance(dayMs);
    expect((await keyed(id, "a", 3)).status).toBe(201);
    expect(await seatsLeft(app, id)).toBe(4);
  });

  test("is free again after a failed request", async () => {
    const { id } = await addFlight(app, { seats: 1 });
    const { bookingId } = await json(await book(id));
    expect((await keyed(id, "a")).status).toBe(409);
    await cancel(bookingId);
    expect((await keyed(id, "a")).status).toBe(201);
  });

  test.each(["", "a b", "ü", "x".repeat(256)])("%j is invalid: 400", async (key) => {
    const { id } = await addFlight(app);
    const response = await keyed(id, key);
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ errors: [{ parameter: "Idempotency-Key" }] });
  });
});

describe("a cancellation", () => {
  const hoursBefore = async (hours: number, heldHours: number) => {
    const departureTime = new Date(app.clock.now() + (hours + heldHours) * hourMs);
    const { id } = await addFlight(app, { departureTime });
    const { bookingId } = await json(await book(id));
    app.clock.advance(heldHours * hourMs);
    return bookingId;
  };

  test.each([
    [24 * 7, 24, 100, 499.5],
    [24 * 7 - 1, 24, 90, 449.55],
    [24 * 7, 25, 90, 449.55],
    [73, 1, 90, 449.55],
    [72, 1, 50, 249.75],
    [25, 1, 50, 249.75],
    [24, 1, 0, 0],
    [0.1, 10, 0, 0],
  ])(
    "%d h before departure and %d h after booking refunds %d %%",
    async (left, held, percent, amount) => {
      const bookingId = await hoursBefore(left, held);
      const quoted = await json(await quote(bookingId));
      expect(quoted["refund"]).toEqual({
        amount,
        currency: "USD",
        percent,
        fee: Number((499.5 - amount).toFixed(2)),
        method: "original_payment_method",
        status: "pending",
        reason: expect.any(String),
      });
      const response = await cancel(bookingId);
      expect(response.status).toBe(200);
      const cancellation = await json(response);
      expect(cancellation).toEqual({
        bookingId,
        status: "cancelled",
        cancelledAt: new Date(app.clock.now()).toISOString(),
        refund: quoted["refund"],
      });
      app.clock.advance(hourMs);
      expect(await json(await cancel(bookingId))).toEqual(cancellation);
      expect(await json(await get(bookingId))).toMatchObject({ status: "cancelled", cancellation });
    },
  );

  test("after departure is 400, as is its quote", async () => {
    const bookingId = await hoursBefore(0, 2);
    for (const answer of [await quote(bookingId), await cancel(bookingId)]) {
      expect(answer.status).toBe(400);
      expect(await json(answer)).toMatchObject({ code: "not-cancellable" });
    }
  });
});

describe("a booking request", () => {
  const good = () => bookingBody(1);
  const withPassenger = (fields: object) => ({
    ...good(),
    passengers: [{ ...passenger(), ...fields }],
  });
  const without = (field: string) => ({ ...good(), [field]: undefined });
  const send = (body: unknown, headers = {}) => app.as("user", path, post(body, headers), "ada");

  test.each([
    ["invalid JSON", "{", "invalid-body", ""],
    ["an empty body", "", "invalid-body", ""],
    ["an array", [], "invalid-body", ""],
    ["null", null, "invalid-body", ""],
    ["a string as flightId", { ...good(), flightId: "1" }, "invalid-body", "/flightId"],
    ["a fraction as flightId", { ...good(), flightId: 1.5 }, "invalid-body", "/flightId"],
    ["null as flightId", { ...good(), flightId: null }, "invalid-body", "/flightId"],
    ["an object as passengers", { ...good(), passengers: {} }, "invalid-body", "/passengers"],
    [
      "a string as a passenger",
      { ...good(), passengers: ["Ada"] },
      "invalid-body",
      "/passengers/0",
    ],
    [
      "a number as a name",
      withPassenger({ firstName: 1 }),
      "invalid-body",
      "/passengers/0/firstName",
    ],
    [
      "a number as paymentMethod",
      { ...good(), paymentMethod: 1 },
      "invalid-body",
      "/paymentMethod",
    ],
    ["no flightId", without("flightId"), "validation-failed", "/flightId"],
    ["no passengers", without("passengers"), "validation-failed", "/passengers"],
    ["no contactEmail", without("contactEmail"), "validation-failed", "/contactEmail"],
    ["no paymentMethod", without("paymentMethod"), "validation-failed", "/paymentMethod"],
    ["flightId 0", { ...good(), flightId: 0 }, "validation-failed", "/flightId"],
    ["0 passengers", bookingBody(1, 0), "validation-failed", "/passengers"],
    ["10 passengers", bookingBody(1, 10), "validation-failed", "/passengers"],
    [
      "an unknown paymentMethod",
      { ...good(), paymentMethod: "cash" },
      "validation-failed",
      "/paymentMethod",
    ],
    [
      "a contactEmail without @",
      { ...good(), contactEmail: "ada" },
      "validation-failed",
      "/contactEmail",
    ],
    [
      "a contactEmail that is too long",
      { ...good(), contactEmail: `${"a".repeat(64)}@${"b".repeat(250)}.com` },
      "validation-failed",
      "/contactEmail",
    ],
    [
      "no first name",
      withPassenger({ firstName: undefined }),
      "validation-failed",
      "/passengers/0/firstName",
    ],
    [
      "an empty name",
      withPassenger({ lastName: "" }),
      "validation-failed",
      "/passengers/0/lastName",
    ],
    [
      "a blank name",
      withPassenger({ lastName: "  " }),
      "validation-failed",
      "/passengers/0/lastName",
    ],
    [
      "a name of Unicode white space",
      withPassenger({ lastName: "\u00a0\u3000\u2028\ufeff" }),
      "validation-failed",
      "/passengers/0/lastName",
    ],
    [
      "a name of 61 characters",
      withPassenger({ lastName: "a".repeat(61) }),
      "validation-failed",
      "/passengers/0/lastName",
    ],
    [
      "NUL in a name",
      withPassenger({ lastName: "a\u0000" }),
      "validation-failed",
      "/passengers/0/lastName",
    ],
    [
      "a line break in a name",
      withPassenger({ lastName: "a\nb" }),
      "validation-failed",
      "/passengers/0/lastName",
    ],
    [
      "a birth date that does not exist",
      withPassenger({ dateOfBirth: "1990-02-30" }),
      "validation-failed",
      "/passengers/0/dateOfBirth",
    ],
    [
      "a birth date in another format",
      withPassenger({ dateOfBirth: "12.04.1990" }),
      "validation-failed",
      "/passengers/0/dateOfBirth",
    ],
    [
      "a birth date in the future",
      withPassenger({ dateOfBirth: "2030-01-01" }),
      "validation-failed",
      "/passengers/0/dateOfBirth",
    ],
    [
      "a birth date 121 years ago",
      withPassenger({ dateOfBirth: "1905-01-01" }),
      "validation-failed",
      "/passengers/0/dateOfBirth",
    ],
    [
      "a passport number of 4 characters",
      withPassenger({ passportNumber: "X-1 23" }),
      "validation-failed",
      "/passengers/0/passportNumber",
    ],
    [
      "a passport number of 10 characters",
      withPassenger({ passportNumber: "X1234 56789" }),
      "validation-failed",
      "/passengers/0/passportNumber",
    ],
    [
      "a passport number with a dot",
      withPassenger({ passportNumber: "X12.3456" }),
      "validation-failed",
      "/passengers/0/passportNumber",
    ],
    [
      "the same passport number twice",
      { ...good(), passengers: [passenger(), { ...passenger(), passportNumber: "x00-000 01" }] },
      "validation-failed",
      "/passengers/1/passportNumber",
    ],
  ])("with %s is rejected, naming the field", async (_, body, code, pointer) => {
    await addFlight(app);
    const response = await send(body);
    expect(response.status).toBe(code === "invalid-body" ? 400 : 422);
    const problem = await json(response);
    expect(problem).toMatchObject({ code });
    if (pointer !== "") expect(problem).toMatchObject({ errors: [{ pointer }] });
    expect(JSON.stringify(problem)).not.toMatch(/X0000001|1990-04-12/);
    expect(await seatsLeft(app, 1)).toBe(10);
  });

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
    const pointers = [
      "/contactEmail",
      "/passengers/0/dateOfBirth",
      "/passengers/0/firstName",
      "/passengers/1/email",
      "/passengers/1/passportNumber",
      "/passengers/2/dateOfBirth",
      "/passengers/3/dateOfBirth",
      "/passengers/3/passportNumber",
      "/passengers/4/passportNumber",
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

  test("for an unknown flight is 404, and for one that departs within the hour 422", async () => {
    expect(await json(await send(bookingBody(404)))).toMatchObject({ code: "flight-not-found" });
    for (const minutes of [-1, 0, 60]) {
      const departureTime = new Date(app.clock.now() + minutes * 60_000);
      const { id } = await addFlight(app, { departureTime });
      const response = await send(bookingBody(id));
      expect(response.status).toBe(422);
      expect(await json(response)).toMatchObject({ code: "booking-closed" });
    }
  });

  test("with another media type is 415, with too many bytes 413, nested too deeply 400", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
      const response = await send(good(), { "content-type": type });
      expect(response.status).toBe(415);
      expect(response.headers.get("accept")).toBe("application/json");
    }
    const huge = await send({ ...good(), extra: "x".repeat(256 * 1024) });
    expect(huge.status).toBe(413);
    const deep = await send(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(deep.status).toBe(400);
  });
});
