// It takes many seconds: each caller tries every route with every parameter, and every selection of GraphQL.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import {
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isAbstractType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from "graphql";

import type { Role } from "../src/base/context.ts";
import { createSchema } from "../src/graphql-schema.ts";
import { operatorGateway } from "../src/outbound/model/destination.ts";

import { json, startApp, until } from "./support/app.ts";
import { readFeed } from "./support/feed.ts";
import { addFlight, bookingBody, passenger, post } from "./support/flights.ts";
import { gatewayEnv } from "./support/gateway.ts";
import { postQuery } from "./support/graphql.ts";
import { listed } from "./support/operator.ts";

/** The callers and their roles, in the order of the table below. */
const callers = {
  anonymous: null,
  stranger: "user",
  owner: "user",
  operator: "operator",
  admin: "admin",
} as const satisfies Record<string, Role | null>;
type Caller = keyof typeof callers;
const isCaller = (name: string): name is Caller => Object.hasOwn(callers, name);
const names = Object.keys(callers).filter(isCaller);
/** The callers that must never see another user's booking. */
const others = ["anonymous", "stranger", "operator"] as const;

const operators = "401 403 403 200 200";
const admins = "401 403 403 403 200";
/** A destination of the operators: users do not learn that it exists. */
const operatorsOwn = "401 404 404 200 200";
const adminsOwn = "401 404 404 403 200";
/** The status of every route that is not public, for each caller. A new route fails until it is listed here. */
const answers: Readonly<Record<string, string>> = {
  "GET /v1/api/bookings": "401 200 200 200 200",
  "GET /v1/api/bookings/:id": "401 404 200 404 200",
  "GET /v1/api/bookings/:id/cancellation": "401 404 200 404 200",
  // 415: authorized, but without a body.
  "POST /v1/api/bookings": "401 415 415 415 415",
  "DELETE /v1/api/bookings/:id": "401 404 200 404 200",
  "POST /v1/api/bookings/:id/refund": "401 403 403 403 415",
  "POST /v1/api/bookings/:id/cancellation": "401 415 415 415 415",
  "POST /v1/api/bookings/:id/changes": "401 415 415 415 415",
  "GET /v1/api/bookings/:id/changes/:changeId": "401 404 404 404 404",
  "POST /v1/api/bookings/:id/changes/:changeId/confirm": "401 404 404 404 404",
  "DELETE /v1/api/bookings/:id/changes/:changeId": "401 404 404 404 404",
  "PATCH /v1/api/bookings/:id/passengers/:position": "401 415 415 415 415",
  // The specification lets any token list users.
  "GET /v1/users": "401 200 200 200 200",
  "GET /v1/users/:id": "401 200 200 200 200",
  "POST /v1/users": "401 415 415 415 415",
  "GET /v1/me/export": "401 200 200 200 200",
  "POST /v1/persons/export": "401 403 403 403 415",
  "POST /v1/persons/find": "401 403 403 403 415",
  "POST /v1/persons/read": "401 403 403 403 415",
  "POST /v1/persons/erase": "401 403 403 403 415",
  "POST /v1/revocations": "401 403 403 403 415",
  "GET /v1/events": operators,
  "GET /v1/events/feed": operators,
  "GET /v1/events/:id": operators,
  "POST /v1/events/:id/replay": operators,
  "POST /v1/replays": "401 415 415 415 415",
  "GET /v1/replays": operators,
  "POST /v1/replays/preview": "401 415 415 415 415",
  "GET /v1/replays/:id": "401 403 403 404 404",
  "GET /v1/replays/:id/failures": "401 403 403 404 404",
  "POST /v1/replays/:id/stop": "401 403 403 404 404",
  "POST /v1/replays/:id/resume": "401 403 403 404 404",
  "GET /v1/notifications": operators,
  "GET /v1/feed": operators,
  "GET /v1/rejections": operators,
  "GET /v1/rejections/:id": operators,
  "POST /v1/rejections/:id/try-secret": "401 403 403 403 415",
  "GET /v1/providers": operators,
  "GET /v1/providers/catalogue": admins,
  "GET /v1/providers/:id": admins,
  "POST /v1/providers": "401 403 403 403 415",
  "PUT /v1/providers/:id/secret": "401 403 403 403 415",
  "POST /v1/providers/:id/test": "401 403 403 403 415",
  "GET /v1/statistics/deliveries": operators,
  "GET /v1/statistics/health": operators,
  "POST /v1/destinations": "401 415 415 415 415",
  "POST /v1/destinations/preview": "401 415 415 415 415",
  "GET /v1/destinations": "401 200 200 200 200",
  // Operators look at the operators' destinations; admins change them.
  "GET /v1/destinations/:id": operatorsOwn,
  "PATCH /v1/destinations/:id": "401 415 415 415 415",
  // 422: the settings define the operator gateway.
  "DELETE /v1/destinations/:id": "401 404 404 403 422",
  "POST /v1/destinations/:id/rotate": "401 404 404 403 422",
  "POST /v1/destinations/:id/pause": adminsOwn,
  "POST /v1/destinations/:id/resume": adminsOwn,
  "POST /v1/destinations/:id/disable": adminsOwn,
  "POST /v1/destinations/:id/test": adminsOwn,
  "GET /v1/destinations/:id/deliveries": operatorsOwn,
  "GET /v1/destinations/:id/latency": operatorsOwn,
  "POST /v1/destinations/:id/retry": adminsOwn,
  "GET /v1/audit": admins,
  "GET /v1/sessions": operators,
  "POST /v1/sessions": "401 415 415 415 415",
  "DELETE /v1/sessions/:id": "401 403 403 404 404",
  "GET /v1/keys": "401 200 200 200 200",
  "POST /v1/keys": "401 415 415 415 415",
  "GET /v1/keys/:id": "401 404 404 404 404",
  "DELETE /v1/keys/:id": "401 404 404 404 404",
  "ALL /mcp": "401 403 403 415 415",
  "GET /v1/issues": operators,
  "POST /v1/issues/:id/retry": "401 403 403 404 404",
  "POST /v1/issues/:id/mute": "401 415 415 415 415",
  "POST /v1/issues/:id/unmute": "401 403 403 404 404",
  "GET /v1/flights/load": operators,
  "GET /v1/flights/load/:date": operators,
};

/** Only the owner and admins may read these, from any URL. */
const secrets = ["Zsofia", "Quartzmann", "traveller@private.example", "contact@private.example"];
const passport = "Q7654321";

const app = await startApp(gatewayEnv("http://127.0.0.1:9/"));
afterAll(() => app.stop());
const routes = app.app.routes.map(({ method, path, hooks }) => ({
  method: method === "ALL" ? "POST" : method,
  path,
  name: `${method} ${path}`,
  query: queryNames(hooks),
}));
const schema = await createSchema(app.services);

type Known = "booking" | "reference" | "owner" | "event" | "rejection" | "flight";
let ids: Record<Known, string>;
let day: string;
beforeAll(async () => {
  const { user } = await app.services.users.ensureUser({ name: "Owner", email: "o@example.com" });
  const flight = await addFlight(app, { seats: 500 });
  const booked = await json(
    await app.as("user", "/v1/api/bookings", post(secretBody(flight.id)), user.id),
  );
  await app.deliverSample("code_host", "workflow_run.completed");
  await app.deliver("code_host", "{}", { secret: "wrong" });
  const bookings = await listed(app, "/v1/events?provider=bookings");
  const [rejection] = await listed(app, "/v1/rejections");
  ids = {
    booking: String(booked["bookingId"]),
    reference: String(booked["reference"]),
    owner: user.id,
    event: String(bookings[0]?.["id"]),
    rejection: String(rejection?.["id"]),
    flight: String(flight.id),
  };
  day = flight.departureTime.toISOString().slice(0, 10);
});

function secretBody(flightId: number) {
  const traveller = {
    firstName: "Zsofia",
    lastName: "Quartzmann",
    email: "traveller@private.example",
    passportNumber: passport,
  };
  const body = { ...bookingBody(flightId), contactEmail: "contact@private.example" };
  return { ...body, passengers: [{ ...passenger(), ...traveller }] };
}

/** One for all requests of a caller: a signature takes longer than most requests. */
const tokens = new Map<Caller, string>();

async function send(who: Caller, path: string, init: RequestInit = {}): Promise<Response> {
  const role = callers[who];
  if (role === null) return app.fetch(path, init);
  const user = { id: who === "owner" ? ids.owner : `the ${who}`, roles: [role] };
  const token = tokens.get(who) ?? (await app.services.tokens.mint(user, 3_600));
  tokens.set(who, token);
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return app.fetch(path, { ...init, headers });
}

/** A route's URL. Each of its parameters names an existing resource. */
function addressOf(path: string): string {
  const known: Readonly<Record<string, string>> = {
    "bookings/:id": ids.booking,
    "users/:id": ids.owner,
    "events/:id": ids.event,
    "rejections/:id": ids.rejection,
    "flights/:id": ids.flight,
    "destinations/:id": operatorGateway.id,
    "providers/:id": "code_host",
    "load/:date": day,
    "problems/:code": "internal",
    "webhooks/:provider": "code_host",
    "playground/:file": "none",
  };
  return path.replaceAll(/(\w+)\/:\w+/g, (place) => {
    const [segment = ""] = place.split("/");
    return `${segment}/${known[place] ?? "1"}`;
  });
}

/** How long a stream that may have nothing more to send is read. */
const streamPatienceMs = 20;

/** A response's text. For a stream, its first messages: the first may be only a position. */
async function textOf(response: Response): Promise<string> {
  const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
  if (!isStream || response.status !== 200) return response.text();
  const reader = readFeed(response);
  const messages: unknown[] = [await reader.next()];
  const more = reader.next().catch(() => null);
  messages.push(await Promise.race([more, Bun.sleep(streamPatienceMs)]));
  await reader.close();
  return JSON.stringify(messages);
}

function queryNames(hooks: { readonly query?: unknown }): readonly string[] {
  const { properties = {} }: { readonly properties?: object } = Object(hooks.query);
  return Object.keys(properties);
}

/** Any token may list users, but no response may reveal which of them made the booking. */
function expectNoSecret(text: string, place: string, isAboutUsers: boolean): void {
  const hidden = [...secrets, passport, ...(isAboutUsers ? [] : [ids.owner])];
  const shown = hidden.filter((secret) => text.includes(secret));
  expect(shown, `${place}: ${text}`).toEqual([]);
}

describe("routes", () => {
  test("in the table all exist", () => {
    const there = routes.map(({ name }) => name);
    expect(Object.keys(answers).filter((name) => !there.includes(name))).toEqual([]);
  });

  test.each(routes)(
    "$name allows only the callers in the table [API5-4]",
    async ({ method, path, name }) => {
      const statuses: number[] = [];
      for (const who of names) {
        const response = await send(who, addressOf(path), { method });
        statuses.push(response.status);
        await response.body?.cancel();
      }
      // A public route answers all callers alike.
      const alike = names.map(() => statuses[0]).join(" ");
      expect(statuses.join(" ")).toBe(answers[name] ?? alike);
    },
  );

  test.each(routes)(
    "$name never shows another user's booking, whatever the parameters [API5-5]",
    async ({ method, path, query }) => {
      const values = [...Object.values(ids), ...secrets, day];
      const asked = new Set([addressOf(path)]);
      if (path.includes("/:")) {
        for (const value of values) {
          asked.add(path.replaceAll(/:\w+/g, encodeURIComponent(value)));
        }
      }
      for (const parameter of query) {
        for (const value of [...values, "total", "severity", "true"]) {
          asked.add(`${addressOf(path)}?${parameter}=${encodeURIComponent(value)}`);
        }
      }
      // Starts the feed with its first message.
      const headers = { "last-event-id": "0" };
      for (const who of others) {
        for (const address of asked) {
          const answer = await textOf(await send(who, address, { method, headers }));
          // Rejections have the paths that this test sent.
          const text = answer.replaceAll(/":path":"[^"]*"/g, "");
          expectNoSecret(text, `${who}: ${address}`, path.startsWith("/v1/users"));
        }
      }
    },
  );

  test("show the booking to its owner and admins, with the passport masked", async () => {
    for (const who of ["owner", "admin"] as const) {
      const text = await textOf(await send(who, `/v1/api/bookings/${ids.booking}`));
      for (const secret of secrets) expect(text).toContain(secret);
      expect(text).not.toContain(passport);
      expect(text.includes('"history"')).toBe(who === "admin");
    }
  });
});

type Field = GraphQLField<unknown, unknown>;

/** Values for a field's required arguments, and for those that could lead to a booking. */
function argumentsOf({ name, args }: Field): string {
  const globalId = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString("base64");
  const nodes = [globalId("Booking", ids.booking), globalId("Flight", ids.flight)];
  const traveller = `{firstName: "A", lastName: "B", email: "a@b.cd", dateOfBirth: "1990-01-01", passportNumber: "A123456"}`;
  const values: Readonly<Record<string, string>> = {
    bookingId: JSON.stringify(ids.booking),
    id: JSON.stringify(nodes[0]),
    ids: JSON.stringify(nodes),
    flightId: ids.flight,
    changeId: '"chg_0"',
    passengers: "[1]",
    position: "1",
    first: "12",
    origin: '"JFK"',
    destination: '"LHR"',
    departureDate: JSON.stringify(day),
    from: JSON.stringify(day),
    to: JSON.stringify(day),
    input:
      name === "createUser"
        ? '{name: "N", email: "n@example.com"}'
        : name === "correctPassenger"
          ? '{firstName: "N"}'
          : `{flightId: ${ids.flight}, passengers: [${traveller}], contactEmail: "a@b.cd", paymentMethod: card}`,
  };
  // With whole pages, a selection of every field would exceed the limit for the size of an answer.
  const chosen = ["departureDate", "first"];
  const given = args.filter((arg) => isNonNullType(arg.type) || chosen.includes(arg.name));
  const texts = given.map((arg) => {
    const value = values[arg.name];
    if (value === undefined) throw new Error(`No value for ${name}(${arg.name}:)`);
    return `${arg.name}: ${value}`;
  });
  return texts.length === 0 ? "" : `(${texts.join(", ")})`;
}

/** Levels of objects below a root field. */
const maxDepth = 4;

/** Yields selections that reach each object below a type and select all of that object's leaves. */
function* selections(type: GraphQLObjectType, depth = 0): Generator<string> {
  const fields = Object.values(type.getFields());
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
  yield `{ __typename ${leaves.map(({ name }) => name).join(" ")} }`;
  if (depth === maxDepth) return;
  for (const field of fields) {
    for (const below of fieldSelections(field, depth + 1)) yield `{ __typename ${below} }`;
  }
}

/** Yields a field with each selection below it. Yields nothing for a leaf. */
function* fieldSelections(field: Field, depth = 0): Generator<string> {
  const type = getNamedType(field.type);
  const start = `${field.name}${argumentsOf(field)}`;
  if (isObjectType(type)) {
    for (const inner of selections(type, depth)) yield `${start} ${inner}`;
  } else if (isAbstractType(type)) {
    for (const each of schema.getPossibleTypes(type)) {
      for (const inner of selections(each, depth))
        yield `${start} { ... on ${each.name} ${inner} }`;
    }
  }
}

function fieldsOf(type: GraphQLObjectType | null | undefined): (readonly [string, Field])[] {
  return Object.entries(type?.getFields() ?? {});
}

/** Runs an operation. Fails if the operation itself is rejected, because it would then test nothing. */
async function asked(who: Caller, operation: string): Promise<string> {
  const text = await textOf(await send(who, "/graphql", postQuery(operation)));
  expect(text, operation).not.toMatch(
    /LIMIT_EXCEEDED|GRAPHQL_\w+_FAILED|BAD_USER_INPUT|"internal"/,
  );
  return text;
}

describe("GraphQL fields", () => {
  test.each(fieldsOf(schema.getQueryType()))(
    "Query.%s never shows another user's booking [API5-6]",
    async (name, field) => {
      for (const selection of fieldSelections(field)) {
        for (const who of others) {
          const text = await asked(who, `{ ${selection} }`);
          expectNoSecret(text, `${who}: ${selection}`, name.startsWith("users"));
        }
      }
    },
  );

  test.each(fieldsOf(schema.getMutationType()))(
    "Mutation.%s never shows another user's booking",
    async (_, field) => {
      for (const selection of fieldSelections(field)) {
        for (const who of others) {
          expectNoSecret(
            await asked(who, `mutation { ${selection} }`),
            `${who}: ${selection}`,
            false,
          );
        }
      }
    },
  );

  test.each(fieldsOf(schema.getSubscriptionType()))(
    "Subscription.%s never shows another user's booking",
    async (_, field) => {
      const accept = { accept: "text/event-stream" };
      for (const selection of fieldSelections(field)) {
        const operation = postQuery(`subscription { ${selection} }`, {}, accept);
        const reader = readFeed(await send("operator", "/graphql", operation));
        const first = reader.next();
        let isThere = false;
        void first.then(() => (isThere = true));
        await send("owner", "/v1/api/bookings", post(secretBody(Number(ids.flight))));
        await until(() => {
          app.clock.advance(20);
          return isThere;
        });
        expectNoSecret(JSON.stringify(await first), selection, false);
        await reader.close();
      }
    },
  );

  test("show the booking to its owner and admins", async () => {
    for (const who of ["owner", "admin"] as const) {
      const texts: string[] = [];
      for (const [, field] of fieldsOf(schema.getQueryType())) {
        for (const selection of fieldSelections(field))
          texts.push(await asked(who, `{ ${selection} }`));
      }
      const all = texts.join("");
      for (const secret of [...secrets, ids.owner]) expect(all).toContain(secret);
      expect(all).not.toContain(passport);
    }
  });
});
