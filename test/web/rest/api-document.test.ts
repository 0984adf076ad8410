import { beforeAll, describe, expect, test } from "bun:test";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { type Static, Type } from "@sinclair/typebox";

import { count, instant, resource, text } from "../../../src/web/schema.ts";
import { json, startApp } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

let document: Record<string, unknown>;
const app = appForAll();
beforeAll(async () => {
  document = await json(await app.fetch("/openapi.json"));
});

/** All objects nested in a value, with their paths. */
function* objectsIn(value: unknown, path = ""): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [path, { ...value }];
  for (const [key, part] of Object.entries(value)) yield* objectsIn(part, `${path}/${key}`);
}

const operations = (): [string, Record<string, unknown>][] =>
  [...objectsIn(document["paths"])].filter(([, part]) => "operationId" in part);

/** The URL path of an operation at a path such as `//v1/events/get` in the document. */
const pathOf = (at: string): string => at.slice(1, at.lastIndexOf("/"));
const methodOf = (at: string): string => at.slice(at.lastIndexOf("/") + 1).toUpperCase();

describe("the OpenAPI document", () => {
  test("is valid OpenAPI 3.1 by Redocly's strictest rules", async () => {
    expect(document["openapi"]).toBe("3.1.1");
    const config = await createConfig({
      extends: ["recommended-strict"],
      // The health routes have no client errors.
      rules: { "operation-4xx-response": "off", "no-invalid-media-type-examples": "error" },
    });
    const source = JSON.stringify(document);
    const errors = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    expect(errors.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("has the version of the API, not of the program", () => {
    expect(document["info"]).toMatchObject({ version: "1.0.0" });
  });

  test("is the same at /swagger/json", async () => {
    expect(await json(await app.fetch("/swagger/json"))).toEqual(document);
  });

  test("describes each operation with an id, a tag and error responses by reference", () => {
    expect(operations().length).toBeGreaterThanOrEqual(20);
    // The page shows only tags that are in a group.
    const grouped = Object(document["x-tagGroups"]).flatMap(({ tags }: { tags: string[] }) => tags);
    for (const [path, operation] of operations()) {
      expect(operation["summary"], path).toBeString();
      expect(operation["tags"], path).toBeArrayOfSize(1);
      expect(grouped, path).toContain(Object(operation["tags"])[0]);
      const responses = Object.entries(Object(operation["responses"]));
      for (const [status, response] of responses.filter(([name]) => Number(name) >= 400)) {
        expect(response, `${path} ${status}`).toHaveProperty("$ref");
      }
      expect(Object.keys(Object(operation["responses"])), path).toContain("500");
    }
  });

  test("references each response schema by name", () => {
    const bodies = operations().flatMap(([path, { responses }]) =>
      [...objectsIn(responses, path)].filter(([at]) => at.endsWith("/application/json/schema")),
    );
    expect(bodies.length).toBeGreaterThan(50);
    for (const [path, schema] of bodies) {
      expect("$ref" in schema || schema["type"] === "array", path).toBeTrue();
    }
  });

  test("types whole numbers as integers and omits keywords of internal validation", () => {
    const parameters = [...objectsIn(document["paths"])].filter(([, part]) => "in" in part);
    for (const name of ["passengers", "page", "limit"]) {
      const schemas = parameters.filter(([, part]) => part["name"] === name);
      expect(schemas.length).toBeGreaterThan(0);
      for (const [, { schema }] of schemas) expect(schema).toMatchObject({ type: "integer" });
    }
    expect(document).toMatchObject({
      components: { schemas: { Flight: { properties: { id: { type: "integer" } } } } },
    });
    for (const [path, part] of objectsIn(document)) {
      for (const key of ["errorMessage", "$id", "patternProperties"]) {
        expect(path.endsWith("/properties") || !(key in part), `${path}: ${key}`).toBeTrue();
      }
    }
  });

  test("describes every field, parameter and header", () => {
    const undescribed = [...objectsIn(document)].filter(
      ([path, part]) =>
        (/\/(?:properties|responses\/\w+\/headers)\/[^/]+$/.test(path) || "in" in part) &&
        !["description", "$ref", "enum", "const", "anyOf", "items"].some((key) => key in part),
    );
    expect(undescribed.map(([path]) => path)).toEqual([]);
  });

  test("lists only supported query parameters: each is rejected by name when repeated", async () => {
    const parameters = operations().flatMap(([path, operation]) =>
      [...objectsIn(operation["parameters"] ?? [])]
        .filter(([, parameter]) => parameter["in"] === "query")
        .map(([, { name }]) => ({ at: pathOf(path), method: methodOf(path), name: String(name) })),
    );
    expect(parameters.length).toBeGreaterThan(30);
    for (const { at, method, name } of parameters) {
      const response = await app.as("admin", `${at}?${name}=1&${name}=1`, { method });
      const rejected = { status: response.status, errors: (await json(response))["errors"] };
      const errors = expect.arrayContaining([expect.objectContaining({ parameter: name })]);
      expect(rejected, `${name} of ${at}`).toEqual({ status: 400, errors });
    }
  });

  test("has examples with which every query succeeds, once its ids are those of a list", async () => {
    await using used = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
    const idOf = async (answer: Promise<Response>, name = "id") =>
      String((await json(await answer))[name]);
    const flight = await addFlight(used);
    const destination = { name: "deploys", format: "json", url: "http://127.0.0.1:1099/" };
    const replay = { from: "2026-11-21T09:00:00Z" };
    await used.deliver("code_host", "{}", { secret: "another" });
    const [rejection] = await listed(used, "/v1/rejections");
    const booking = post(bookingBody(flight.id));
    const bookingId = await idOf(
      used.as("admin", "/v1/api/bookings", booking, "root"),
      "bookingId",
    );
    const part = post({ passengers: [1] });
    const changeId = await idOf(
      used.as("admin", `/v1/api/bookings/${bookingId}/cancellation`, part, "root"),
    );
    const destinationId = await idOf(used.as("admin", "/v1/destinations", post(destination)));
    const replayId = await idOf(used.as("admin", "/v1/replays", post(replay)));
    const { user } = await used.services.users.ensureUser({ name: "Ada", email: "a@example.com" });
    const ids: readonly (readonly [path: string, id: string])[] = [
      ["/v1/rejections/", String(rejection?.["id"])],
      ["/v1/events/", await idOf(used.deliverSample("code_host", "package.published"))],
      ["/v1/api/bookings/", bookingId],
      ["/v1/destinations/", destinationId],
      ["/v1/replays/", replayId],
      ["/v1/users/", user.id],
      ["/v1/providers/", "code_host"],
      ["/v1/keys/", await idOf(used.as("admin", "/v1/keys", post({ name: "x" })))],
    ];
    // It has the session of a browser, which this test has not, or does not end.
    const others = ["/v1/auth/session", "/v1/feed", "/v1/events/stream"];
    const failed: string[] = [];
    for (const [at, operation] of operations()) {
      const path = pathOf(at);
      if (methodOf(at) !== "GET" || others.includes(path)) continue;
      const query = new URLSearchParams();
      const parameters = [...objectsIn(operation["parameters"] ?? [])].map(([, each]) => each);
      for (const { in: place, name, example } of parameters)
        if (place === "query" && example !== undefined)
          query.set(String(name), `${JSON.stringify(example)}`.replaceAll('"', ""));
      const id = ids.find(([prefix]) => path.startsWith(`${prefix}{`))?.[1];
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const own = parameters.find((each) => each["in"] === "path" && each["name"] === name);
        return name === "changeId" ? changeId : (id ?? String(own?.["example"]));
      });
      const answer = await used.as("admin", `${filled}?${query.toString()}`, {}, "root");
      if (!answer.ok) failed.push(`${path}?${query.toString()}: ${await answer.text()}`);
      else await answer.body?.cancel();
    }
    expect(failed).toEqual([]);
  });

  test("documents the size limit of deliveries and the providers with a larger one", () => {
    expect(JSON.stringify(document)).toContain("uncompressed. At most 5 MiB (code_host: 25 MiB).");
  });

  test("has an example for each error response", () => {
    const responses = Object.entries(Object(Object(document["components"]).responses));
    expect(responses.length).toBeGreaterThan(10);
    for (const [name, response] of responses) {
      const example = { status: expect.any(Number), code: expect.any(String) };
      // Bun's `toMatchObject` writes the matchers into the object.
      expect(structuredClone(response), name).toMatchObject({
        content: { "application/problem+json": { example } },
      });
    }
  });
});

describe("a response", () => {
  test("that breaks its schema is a 500 without details", async () => {
    await using broken = await startApp();
    const { flights } = broken.services;
    const secret = "4111-1111";
    const invalid = { flights: [{ id: secret }], totalResults: 1, page: 1, pageSize: 20 };
    Object.assign(flights, { search: async () => invalid, read: async () => ({ id: secret }) });
    for (const path of ["", "/1"]) {
      const query = "?origin=JFK&destination=LHR&departureDate=2026-12-01";
      const response = await broken.fetch(`/v1/api/flights${path || query}`);
      expect(response.status).toBe(500);
      const requestId = response.headers.get("x-request-id");
      expect(await json(response)).toEqual({
        type: "/problems/internal",
        title: "Internal server error",
        status: 500,
        detail: "An internal error occurred. Try again later.",
        instance: `urn:skyhook:request:${requestId}`,
        code: "internal",
        requestId,
      });
    }
  });

  test("omits fields that its schema does not have [API3-4]", async () => {
    await using other = await startApp();
    const user = { id: crypto.randomUUID(), name: "Ada", email: "a@b.co", createdAt: new Date(0) };
    Object.assign(other.services.users, { read: async () => ({ ...user, passwordHash: "x" }) });
    const response = await other.as("user", `/v1/users/${user.id}`);
    expect(await json(response)).toEqual({ ...user, createdAt: user.createdAt.toISOString() });
  });
});

describe("resource", () => {
  const thing = resource("Thing", "A thing.", {
    name: text("A name."),
    madeAt: instant(),
    size: Type.Optional(count("How big.")),
  });
  type Thing = Static<typeof thing>;

  // Each `@ts-expect-error` fails `bun run check:types` if its line compiles.
  test("is the schema of values with exactly its fields", () => {
    expect(thing).toMatchObject({ $id: "Thing", required: ["name", "madeAt"] });
    const small: Thing = { name: "small", madeAt: new Date(0) };
    const large: Thing = { ...small, size: 9 };
    // @ts-expect-error A field is missing.
    const nameless: Thing = { madeAt: new Date(0) };
    // @ts-expect-error The type does not have this field.
    const red: Thing = { ...small, colour: "red" };
    // @ts-expect-error A field has another type.
    const numbered: Thing = { ...small, name: 1 };
    // @ts-expect-error An optional field may be missing.
    const size: number = small.size;
    // @ts-expect-error Fields do not change.
    large.size = 10;
    expect([nameless, red, numbered, size]).toHaveLength(4);
  });
});
