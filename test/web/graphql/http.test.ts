import { describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { at, postQuery } from "../../support/graphql.ts";
import { appForAll } from "../../support/running-app.ts";

const newType = "application/graphql-response+json";
const oldType = "application/json";

// What clients rely on: https://graphql.github.io/graphql-over-http/draft/ (the MUSTs, and the
// SHOULDs that clients really need). Every audit of the npm package graphql-http passes as well.
describe("GraphQL over HTTP", () => {
  const app = appForAll();

  const send = (init: RequestInit) => app.fetch("/graphql", init);
  const sendBody = (body: unknown, accept = newType, type = oldType) =>
    send(post(body, { accept, "content-type": type }));
  const get = (search: Record<string, string>, accept = newType) =>
    app.fetch(`/graphql?${new URLSearchParams(search).toString()}`, { headers: { accept } });

  test.each([
    [undefined, oldType],
    ["", oldType],
    [" , ", oldType],
    ["*/*", oldType],
    [`${oldType};q=0, */*`, newType],
    [`*/*;q=0.1, ${newType};q=0, text/*`, oldType],
    [oldType, oldType],
    [newType, newType],
    [`${newType}; charset=utf-8`, newType],
    [`${newType}, ${oldType}`, newType],
    [`${newType}, ${oldType};q=0.9`, newType],
    [`${oldType};q=0.5, ${newType};q=0.9`, newType],
    [`${newType};q=0, ${oldType}`, oldType],
    ["text/html, application/*;q=0.8", oldType],
  ])("responds to Accept %s with %s in UTF-8", async (accept, type) => {
    const headers = accept === undefined ? undefined : { accept };
    const response = await send(postQuery("{ __typename }", {}, headers));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(await response.json()).toEqual({ data: { __typename: "Query" } });
  });

  test("rejects a compressed body", async () => {
    const compressed = postQuery("{ __typename }", {}, { "content-encoding": "gzip" });
    const response = await send(compressed);
    expect(response.status).toBe(415);
    expect(response.headers.get("accept-encoding")).toBe("identity");
  });

  test("answers 406 to other types, without executing the request", async () => {
    const { id } = await addFlight(app);
    const query = "mutation ($input: CreateBookingInput!) { createBooking(input: $input) { id } }";
    const body = { query, variables: { input: bookingBody(id) } };
    const response = await app.as("user", "/graphql", post(body, { accept: "text/plain" }));
    expect(response.status).toBe(406);
    expect(await seatsLeft(app, id)).toBe(10);
    const stream = await app.as(
      "operator",
      "/graphql",
      post(
        { query: `subscription { seatsChanged(flightId: ${id}) { flightId } }` },
        { accept: oldType },
      ),
    );
    expect(stream.status).toBe(406);
  });

  // [body, status for application/graphql-response+json, status for application/json, code]
  const rejected: readonly (readonly [string, unknown, number, number, string])[] = [
    ["invalid JSON", "{", 400, 400, "invalid-body"],
    ["an empty body", "", 400, 400, "invalid-body"],
    ["null", "null", 400, 400, "bad-request"],
    ["a string", '"{ __typename }"', 400, 400, "bad-request"],
    ["a batch", [{ query: "{ __typename }" }], 400, 400, "bad-request"],
    ["no query", {}, 400, 400, "bad-request"],
    ["an empty query", { query: "" }, 400, 400, "bad-request"],
    ["null as the query", { query: null }, 400, 400, "bad-request"],
    ["a number as the query", { query: 1 }, 400, 400, "bad-request"],
    ["an object as the query", { query: {} }, 400, 400, "bad-request"],
    [
      "a string as variables",
      { query: "{ __typename }", variables: "{}" },
      400,
      400,
      "bad-request",
    ],
    ["a list as variables", { query: "{ __typename }", variables: [] }, 400, 400, "bad-request"],
    [
      "a string as extensions",
      { query: "{ __typename }", extensions: "x" },
      400,
      400,
      "bad-request",
    ],
    ["an unknown parameter", { query: "{ __typename }", foo: 1 }, 400, 400, "bad-request"],
    ["a syntax error", { query: "{" }, 400, 200, "GRAPHQL_PARSE_FAILED"],
    ["an unknown field", { query: "{ nope }" }, 400, 200, "GRAPHQL_VALIDATION_FAILED"],
    [
      "an unknown operation",
      { query: "query A { __typename }", operationName: "B" },
      400,
      400,
      "OPERATION_RESOLUTION_FAILURE",
    ],
    [
      "two operations without operationName",
      { query: "query A { __typename } query B { __typename }" },
      400,
      400,
      "OPERATION_RESOLUTION_FAILURE",
    ],
    [
      "a missing variable",
      { query: "query ($id: Int!) { flight(flightId: $id) { id } }" },
      400,
      200,
      "BAD_USER_INPUT",
    ],
    [
      "a variable of the wrong type",
      { query: "query ($id: Int!) { flight(flightId: $id) { id } }", variables: { id: "1" } },
      400,
      200,
      "BAD_USER_INPUT",
    ],
  ];
  test.each(rejected)(
    "rejects %s with the right status [API4-18]",
    async (_, body, byNew, byOld, code) => {
      for (const [type, status] of [
        [newType, byNew],
        [oldType, byOld],
      ] as const) {
        const response = await sendBody(body, type);
        expect([type, response.status]).toEqual([type, status]);
        expect(response.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
        const answer = await json(response);
        expect(answer).not.toHaveProperty("data");
        expect(answer["errors"]).toMatchObject([
          { message: expect.any(String), extensions: { code, status: 400 } },
        ]);
        expect(JSON.stringify(answer)).not.toMatch(/originalError|stack|"http"/);
      }
    },
  );

  test("answers 200 with data, error and path if a field fails", async () => {
    for (const type of [newType, oldType]) {
      const response = await sendBody({ query: "{ __typename me { name } }" }, type);
      expect(await jsonWith(response, 200)).toMatchObject({
        data: { __typename: "Query", me: null },
        errors: [{ path: ["me"], locations: [{ line: 1, column: 14 }] }],
      });
    }
  });

  test("accepts null and {} for optional parameters, and any case in Content-Type", async () => {
    const query = "query Q { __typename }";
    const full = { query, variables: null, operationName: null, extensions: null };
    for (const body of [full, { query, variables: {}, operationName: "Q", extensions: {} }]) {
      expect((await sendBody(body)).status).toBe(200);
    }
    for (const type of [
      "application/json; charset=utf-8",
      "Application/JSON",
      'application/json;charset="UTF-8"',
    ]) {
      expect((await sendBody({ query }, newType, type)).status).toBe(200);
    }
  });

  test.each([
    ["application/x-www-form-urlencoded", "query=%7B__typename%7D"],
    ["text/plain", '{"query":"{ __typename }"}'],
    ["multipart/form-data; boundary=x", "--x--"],
    ["application/graphql", "{ __typename }"],
    ["application/json; charset=iso-8859-1", '{"query":"{ __typename }"}'],
    ["", '{"query":"{ __typename }"}'],
  ])(
    "answers 415 to a body of type %j, which HTML forms of other sites can send [API8-7]",
    async (type, body) => {
      const response = await sendBody(body, newType, type);
      expect(response.status).toBe(415);
      expect(response.headers.get("accept")).toBe("application/json");
      expect(await json(response)).toMatchObject({
        errors: [{ extensions: { code: "unsupported-media-type", status: 415 } }],
      });
    },
  );

  test("answers 413 above 100 KiB, with and without Content-Length, and 400 to invalid UTF-8", async () => {
    const body = JSON.stringify({ query: "{ __typename }", variables: { x: "x".repeat(102_400) } });
    const stream = new Blob([body]).stream();
    for (const sent of [body, stream]) {
      const headers = { "content-type": oldType };
      const response = await send({ method: "POST", headers, body: sent });
      expect(response.status).toBe(413);
      expect(at(await json(response), "errors", 0, "extensions", "code")).toBe("body-too-large");
    }
    const bytes = Buffer.from('{"query":"{ __typename } # \u00ff"}', "latin1");
    const headers = { "content-type": oldType };
    expect((await send({ method: "POST", headers, body: bytes })).status).toBe(400);
  });

  test("rejects lone surrogates, escaped in JSON or in the query", async () => {
    const query = "query ($id: ID!) { node(id: $id) { id } }";
    for (const [body, code] of [
      [String.raw`{"query":"${query}","variables":{"id":"\ud800"}}`, "invalid-body"],
      [String.raw`{"query":"${query}","variables":{"\udc00":"x","id":"x"}}`, "invalid-body"],
      [String.raw`{"query":"{ node(id: \"\ud83e\") { id } }"}`, "invalid-body"],
      [String.raw`{"query":"{ node(id: \"\\uD800\") { id } }"}`, "GRAPHQL_PARSE_FAILED"],
      [String.raw`{"query":"{ node(id: \"\\u{D800}\") { id } }"}`, "GRAPHQL_PARSE_FAILED"],
    ] as const) {
      const headers = { "content-type": oldType, accept: newType };
      const response = await send({ method: "POST", headers, body });
      expect([body, response.status]).toEqual([body, 400]);
      expect(at(await json(response), "errors", 0, "extensions", "code")).toBe(code);
    }
    expect((await get({ query, variables: String.raw`{"id":"\ud800"}` })).status).toBe(400);
  });

  test("allows GET only for queries [API8-6]", async () => {
    const ok = await get({
      query: "query ($id: Int!) { flight(flightId: $id) { id } }",
      variables: '{"id":999999}',
      operationName: "",
    });
    expect([ok.status, await ok.json()]).toEqual([200, { data: { flight: null } }]);
    const mutation = await get({
      query: 'mutation { cancelBooking(bookingId: "bk_0") { status } }',
    });
    expect(mutation.status).toBe(405);
    expect(mutation.headers.get("allow")).toBe("POST");
    expect(at(await json(mutation), "errors", 0, "extensions", "code")).toBe("method-not-allowed");
    for (const search of [
      {},
      { query: "" },
      { query: "{" },
      { query: "{ nope }" },
      { query: "{ __typename }", variables: "{" },
      { query: "{ __typename }", variables: "[]" },
    ]) {
      expect((await get({ ...search })).status).toBe(400);
    }
  });

  test.each(["PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])("answers 405 to %s", async (method) => {
    const response = await send({ method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, POST");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("answers 401 to an expired token, and accepts requests without a token", async () => {
    const headers = { authorization: "Bearer x", accept: newType };
    const response = await send(postQuery("{ __typename }", {}, headers));
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toBe(`${newType}; charset=utf-8`);
    for (const authorization of ["Bearer", "Bearer ", "bearer  "]) {
      expect((await send(postQuery("{ __typename }", {}, { authorization }))).status).toBe(200);
    }
    expect((await send(postQuery("{ __typename }", {}, { authorization: "Basic x" }))).status).toBe(
      401,
    );
  });
});
