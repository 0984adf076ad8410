import { beforeAll, describe, expect, test } from "bun:test";

import { isName } from "../../src/base/name.ts";
import { readFlightPlan } from "../../src/booking/flights/import/flight-plan.ts";
import { readRefundRequest } from "../../src/booking/payments/recorded-refund.ts";
import { parseLine } from "../../src/cli/kit/arguments.ts";
import { parseName } from "../../src/cli/operate/console.ts";
import { readProviderFile } from "../../src/inbound/providers/files/provider-file.ts";
import { json } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { appForAll } from "../support/running-app.ts";

const app = appForAll();
let document: Record<string, unknown>;
let flightId: number;
beforeAll(async () => {
  document = await json(await app.fetch("/openapi.json"));
  ({ id: flightId } = await addFlight(app, { seats: 300 }));
});

const accepted = [
  "Ada",
  " Ada",
  "O\u2019Brien",
  "\u00c5",
  "A\u030a",
  // Joiners within words: Persian, Sinhala and a family of emoji.
  "\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645",
  "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
  "\u{1f469}\u200d\u{1f680}",
  "\u2764\ufe0f",
  // A mark of direction reorders nothing else.
  "\u05d0\u200f!",
  "\u{20000}".repeat(60),
] as const;

const refused = [
  "",
  " ",
  "\u00a0\u3000",
  "\u0301",
  "\u0301\u{1d165}\ufe0f",
  "\u20dd",
  "\u{1d173}",
  "\u{1d17a}",
  "\u{1bca0}",
  "\u{1bca3}",
  "\u3164",
  "\uffa0",
  "\u115f",
  "\u2800",
  "\u{1d159}",
  "\u{13441}",
  "\ufe0f",
  "\u{e0100}",
  "\u{e0041}",
  "\u00ad",
  "\u034f",
  "\u200b",
  "\u200d",
  "\ufeff",
  "\ufff9",
  "\uffff",
  "\ud800",
  "A\ud800",
  "A\nB",
  "A\u0085",
  "A\u2028B",
  "A\u0000",
  "A\u001b[31m",
  "A\u202eB",
  "A\u202aB",
  "A\u2066B",
  "A\u2069",
] as const;

const samples = [
  ...accepted.map((text) => ({ text, isAccepted: true })),
  ...refused.map((text) => ({ text, isAccepted: false })),
];

const passenger = (member: object) => ({
  ...bookingBody(flightId),
  passengers: [{ ...bookingBody(flightId).passengers[0], ...member }],
});

const statusOf = async (path: string, body: object) =>
  (await app.as("admin", path, post(body), `maker-${crypto.randomUUID()}`)).status === 201;

const doesNotThrow = (action: () => unknown) => {
  try {
    action();
    return true;
  } catch {
    return false;
  }
};

const planOf = (fields: object) =>
  new Map<string, unknown>(
    Object.entries({
      flightNumber: "N4101",
      origin: "JFK",
      destination: "LHR",
      departureTime: "2026-12-01T18:25:00Z",
      arrivalTime: "2026-12-02T06:30:00Z",
      cabinClass: "economy",
      seats: "216",
      price: "412.50",
      currency: "USD",
      ...fields,
    }),
  );

const fileOf = (fields: object) =>
  JSON.stringify({
    signature: { kind: "basic-auth" },
    event: "{/type}",
    title: "Made",
    events: { made: { type: "thing.made" } },
    samples: { made: { body: { type: "made" } } },
    ...fields,
  });

/** Where people give names, and what accepts them. */
const places: readonly (readonly [string, (text: string) => boolean | Promise<boolean>])[] = [
  ["the function", (text) => isName(text, 60)],
  [
    "a user",
    (name) => statusOf("/v1/users", { name, email: `${crypto.randomUUID()}@example.com` }),
  ],
  ["a token of an agent", (name) => statusOf("/v1/sessions", { name })],
  ["a first name", (firstName) => statusOf("/v1/api/bookings", passenger({ firstName }))],
  ["a last name", (lastName) => statusOf("/v1/api/bookings", passenger({ lastName }))],
  ["a refund's reason", (reason) => doesNotThrow(() => readRefundRequest({ reason }))],
  ["a refund's note", (note) => doesNotThrow(() => readRefundRequest({ note }))],
  ["a client, and a reason on the command line", (text) => doesNotThrow(() => parseLine(text))],
  ["an airline", (airline) => doesNotThrow(() => readFlightPlan(planOf({ airline })))],
  [
    "a provider",
    (displayName) => doesNotThrow(() => readProviderFile("x.json", fileOf({ displayName }))),
  ],
  ["a link to the console", (text) => doesNotThrow(() => parseName(text))],
];

describe("a name", () => {
  test.each(places)("is readable: %s", async (_, accepts) => {
    const found = [];
    for (const { text } of samples) found.push({ text, isAccepted: await accepts(text) });
    expect(found).toEqual(samples);
  });

  test.each([
    ["CreateUser", "name", 200],
    ["AgentTokenInput", "name", 100],
    ["PassengerRequest", "firstName", 60],
    ["RefundRequest", "reason", 200],
  ])("is described as it is checked: %s", (schema, field, length) => {
    const { components } = document as { components: { schemas: Record<string, object> } };
    const { properties } = Object(components.schemas[schema]);
    const { type, pattern, minLength, maxLength } = properties[field];
    expect([type, minLength, maxLength]).toEqual(["string", 1, length]);
    const described = samples.map(({ text }) => ({
      text,
      isAccepted: new RegExp(pattern, "u").test(text),
    }));
    expect(described).toEqual(samples);
  });

  test("counts code points", () => {
    expect(
      ["\u{1f680}".repeat(3), "abcd", "\u{1f680}".repeat(4)].map((text) => isName(text, 3)),
    ).toEqual([true, false, false]);
  });
});
