import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Type } from "@sinclair/typebox";

import { count, instant, schemaOf, text } from "../../../src/web/rest/schema.ts";
import { json, startApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let document: Record<string, unknown>;
beforeAll(async () => {
  app = await startApp();
  document = await json(await app.fetch("/openapi.json"));
});
afterAll(() => app.stop());

/** Every object within a value, with its path. */
function* objectsIn(value: unknown, path = ""): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [path, { ...value }];
  for (const [key, part] of Object.entries(value)) yield* objectsIn(part, `${path}/${key}`);
}

const operations = (): [string, Record<string, unknown>][] =>
  [...objectsIn(document["paths"])].filter(([, part]) => "operationId" in part);

/** The path of an operation, out of its place in the document, as `//v1/events/get`. */
const pathOf = (place: string): string => place.slice(1, place.lastIndexOf("/"));
const methodOf = (place: string): string => place.slice(place.lastIndexOf("/") + 1).toUpperCase();

describe("the OpenAPI document", () => {
  test("is valid OpenAPI 3.1 by Redocly's strictest rules", async () => {
    expect(document["openapi"]).toBe("3.1.1");
    const config = await createConfig({
      extends: ["recommended-strict"],
      // Health cannot fail by the client's fault.
      rules: { "operation-4xx-response": "off", "no-invalid-media-type-examples": "error" },
    });
    const source = JSON.stringify(document);
    const faults = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    expect(faults.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("has the version of the API, not the program's", () => {
    expect(document["info"]).toMatchObject({ version: "1.0.0" });
  });

  test("is the same at /swagger/json", async () => {
    expect(await json(await app.fetch("/swagger/json"))).toEqual(document);
  });

  test("describes every operation, with an id, a tag and its failures by reference", () => {
    expect(operations().length).toBeGreaterThanOrEqual(20);
    for (const [path, operation] of operations()) {
      expect(operation["summary"], path).toBeString();
      expect(operation["tags"], path).toBeArrayOfSize(1);
      const responses = Object.entries(Object(operation["responses"]));
      for (const [status, response] of responses.filter(([name]) => Number(name) >= 400)) {
        expect(response, `${path} ${status}`).toHaveProperty("$ref");
      }
      expect(Object.keys(Object(operation["responses"])), path).toContain("500");
    }
  });

  test("prints every answer's schema by name", () => {
    const bodies = operations().flatMap(([path, { responses }]) =>
      [...objectsIn(responses, path)].filter(([at]) => at.endsWith("application~1json/schema")),
    );
    for (const [path, schema] of bodies) {
      expect("$ref" in schema || schema["type"] === "array", path).toBeTrue();
    }
  });

  test("prints whole numbers as integers, and no word of how they are checked", () => {
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

  test("says of every field, parameter and header what it is", () => {
    const silent = [...objectsIn(document)].filter(
      ([path, part]) =>
        (/\/(?:properties|responses\/\w+\/headers)\/[^/]+$/.test(path) || "in" in part) &&
        !["description", "$ref", "enum", "const", "anyOf", "items"].some((key) => key in part),
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test("names no query parameter that is not read: given twice, each is refused by name", async () => {
    const asked = operations().flatMap(([path, { parameters = [] }]) =>
      [...objectsIn(parameters)]
        .filter(([, parameter]) => parameter["in"] === "query")
        .map(([, { name }]) => ({ at: pathOf(path), method: methodOf(path), name: String(name) })),
    );
    expect(asked.length).toBeGreaterThan(30);
    for (const { at, method, name } of asked) {
      const response = await app.as("admin", `${at}?${name}=1&${name}=1`, { method });
      const refused = { status: response.status, errors: (await json(response))["errors"] };
      const wanted = expect.arrayContaining([expect.objectContaining({ parameter: name })]);
      expect(refused, `${name} of ${at}`).toEqual({ status: 400, errors: wanted });
    }
  });

  test("says how large a delivery may be, of each provider that may send more than others", () => {
    expect(JSON.stringify(document)).toContain("uncompressed; at most 5 MiB, of code_host 25 MiB.");
  });

  test("has an example that each failure's schema takes", () => {
    for (const [, part] of objectsIn(Object(document["components"]).responses)) {
      if ("example" in part && "schema" in part && typeof part["example"] === "object") {
        expect(part["example"]).toMatchObject({
          status: expect.any(Number),
          code: expect.any(String),
        });
      }
    }
  });
});

describe("an answer", () => {
  test("that breaks its schema is a 500 that tells nothing", async () => {
    const broken = await startApp();
    const { flights } = broken.services;
    const secret = "4111-1111";
    const faulty = { flights: [{ id: secret }], totalResults: 1, page: 1, pageSize: 20 };
    Object.assign(flights, { search: async () => faulty, read: async () => ({ id: secret }) });
    for (const path of ["", "/1"]) {
      const query = "?origin=JFK&destination=LHR&departureDate=2026-12-01";
      const response = await broken.fetch(`/v1/api/flights${path || query}`);
      expect(response.status).toBe(500);
      const requestId = response.headers.get("x-request-id");
      expect(await json(response)).toEqual({
        type: "/problems/internal",
        title: "Internal server error",
        status: 500,
        detail: "Something went wrong on our side",
        instance: `urn:skyhook:request:${requestId}`,
        code: "internal",
        requestId,
      });
    }
    await broken.stop();
  });

  test("has no field that its schema has not [API3-4]", async () => {
    const other = await startApp();
    const user = { id: crypto.randomUUID(), name: "Ada", email: "a@b.co", createdAt: new Date(0) };
    Object.assign(other.services.users, { read: async () => ({ ...user, passwordHash: "x" }) });
    const response = await other.as("user", `/v1/users/${user.id}`);
    expect(await json(response)).toEqual({ ...user, createdAt: user.createdAt.toISOString() });
    await other.stop();
  });
});

describe("schemaOf", () => {
  interface Thing {
    readonly name: string;
    readonly madeAt: Date;
    readonly size?: number;
  }
  const fields = {
    name: text("A name."),
    madeAt: instant(),
    size: Type.Optional(count("How big.")),
  };
  const { size, ...withoutSize } = fields;

  // Each line is an error of the compiler's: `bun run check:types` fails where one is none.
  test("takes the very fields of its type, by the compiler's word", () => {
    const thing = schemaOf<Thing>();
    expect(thing("Thing", "", fields)).toMatchObject({
      $id: "Thing",
      required: ["name", "madeAt"],
    });
    // @ts-expect-error A field is lacking.
    thing("Thing", "", withoutSize);
    // @ts-expect-error A field is too many.
    thing("Thing", "", { ...fields, colour: text("A colour.") });
    // @ts-expect-error A field has another type.
    thing("Thing", "", { ...fields, name: count("A name?") });
    // @ts-expect-error A field may be left out, and its schema says that it may not.
    thing("Thing", "", { ...fields, size: count("How big.") });
    // @ts-expect-error A field may hold less than its type says.
    thing("Thing", "", { ...fields, name: Type.Literal("Ada") });
    expect(size).toBeDefined();
  });
});
