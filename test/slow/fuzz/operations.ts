import fc from "fast-check";

import { at } from "../../../src/base/payload.ts";

import { cursor } from "./cursors.ts";
import { type Operation, operations, valueOf } from "./definitions.ts";
import { expectNoToken } from "./grants.ts";
import { hostileHeaders } from "./headers.ts";
import { encoded, hostileBody, spoilt } from "./json.ts";
import { anyRole, type FuzzRequest, get } from "./request.ts";
import { requestTarget } from "./target.ts";
import { telling } from "./telling.ts";
import { hostileQueryValue, hostileSegment } from "./text.ts";
import type { Answer, World } from "./world.ts";

/** What must hold beside what must hold for every answer to an operation. */
const expectations: Readonly<
  Record<string, (request: FuzzRequest, answer: Answer, world: World) => unknown>
> = {
  async "POST /v1/users"({ body }, { status, text }, world) {
    if (status !== 201 || body === null) return;
    const sent: unknown = JSON.parse(new TextDecoder().decode(body));
    const made: unknown = JSON.parse(text);
    const stored = await world.send(get(`/v1/users/${String(at(made, "id"))}`, "admin"));
    const name = String(at(sent, "name")).normalize("NFC").trim();
    if (at(JSON.parse(stored.text), "name") !== name) {
      throw new Error(`The name was stored as another: ${stored.text}`);
    }
  },
  "POST /v1/auth/token": expectNoToken,
};

const bodyRequests: fc.Arbitrary<FuzzRequest> = fc
  .constantFrom(
    ...operations.flatMap(({ body, ...rest }) => (body === null ? [] : { body, ...rest })),
  )
  .chain(({ method, path, body }) =>
    fc.record({
      method: fc.constant(method),
      path: fc.constant(path),
      headers: hostileHeaders(
        ["content-type", "idempotency-key", "content-encoding", "x-skyhook-console"],
        [["content-type", "application/json"]],
      ),
      // As one who may do it all, or what is behind the access checks would hardly be tried.
      as: fc.oneof(fc.constant("admin" as const), anyRole),
      body: encoded(spoilt(valueOf(body))),
    }),
  );

export const bodies = requestTarget({
  name: "bodies",
  about: "JSON bodies and idempotency keys of every operation that takes them",
  shortRuns: 700,
  requests: bodyRequests,
  expect: (request, ...answer) =>
    expectations[`${request.method} ${request.path}`]?.(request, ...answer),
});

type Parameter = Operation["parameters"][number];

/** Values of a query parameter that mean something to it. */
function good({ name, schema, example }: Parameter): readonly string[] {
  const { enum: listed = [], minimum, maximum = 100 } = schema;
  const numbers = minimum === undefined ? [] : [minimum, maximum, maximum + 1, 10_000, 1e20];
  const given = [...listed, ...numbers, ...(example === undefined ? [] : [example])].map(String);
  const all = [...given, ...(telling[name] ?? [])];
  return all.length === 0 ? ["a"] : all.map(inUrl);
}

/** What stands for a thing that exists is filled in later. */
const inUrl = (text: string): string => (/^\{\w+\}$/.test(text) ? text : encodeURIComponent(text));

const parameterOf = (parameter: Parameter): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.constantFrom(...good(parameter)) },
      { weight: 3, arbitrary: hostileQueryValue },
      { weight: 1, arbitrary: fc.constant("") },
      {
        weight: parameter.name === "cursor" ? 5 : 0,
        arbitrary: cursor.map((text) => encodeURIComponent(text.toWellFormed())),
      },
    )
    .map((value) => `${parameter.name}=${value}`);

const unknown = fc
  .tuple(
    fc.constantFrom("__proto__", "Limit", "limit[]", "q", "userId", "%00"),
    fc.oneof(fc.constant("a"), hostileQueryValue),
  )
  .map(([name, value]) => `${name}=${value}`);

const queryRequests: fc.Arbitrary<FuzzRequest> = fc
  .constantFrom(
    ...operations.flatMap(({ method, path, parameters }) => {
      const inQuery = parameters.filter((parameter) => parameter.in === "query");
      return inQuery.length === 0 ? [] : { method, path, inQuery };
    }),
  )
  .chain(({ method, path, inQuery }) => {
    // Else nothing but the absence of these would be looked at.
    const required = inQuery.filter((parameter) => parameter.required === true);
    return fc
      .record({
        first: fc.constantFrom(
          [],
          required.map((one) => `${one.name}=${good(one)[0]}`),
        ),
        parameters: fc.array(
          fc.oneof(
            { weight: 30, arbitrary: fc.constantFrom(...inQuery).chain(parameterOf) },
            { weight: 1, arbitrary: unknown },
          ),
          { maxLength: 4 },
        ),
        as: fc.constantFrom("admin" as const, "admin" as const, "user" as const, null),
      })
      .map(({ first, parameters, as }) => ({
        ...get(`${path}?${[...first, ...parameters].join("&")}`, as),
        method,
      }));
  });

export const queries = requestTarget({
  name: "queries",
  about: "query strings and cursors of every operation that takes them",
  shortRuns: 500,
  requests: queryRequests,
});

/** Every path of the document, and those of what is no operation. */
const routes = [
  ...operations.map(({ path }) => path),
  "/graphql",
  "/graphql/playground/{any}",
  "/swagger",
  "/swagger/{any}",
  "/console/{any}",
  "/docs/{any}",
  "/{any}",
  "/v1/{any}/{any}",
];

const segment = fc.oneof(
  fc.constantFrom("{flight}", "{booking}", "{user}", "{event}", "task_tracker", "no-seats"),
  hostileSegment,
);

const pathRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    method: fc.constantFrom("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "PURGE"),
    route: fc.constantFrom(...routes),
    fillings: fc.array(fc.option(segment), { minLength: 2, maxLength: 2 }),
    slash: fc.constantFrom("", "", "", "/", "?", "#", "//"),
    as: anyRole,
    body: fc.option(hostileBody),
  })
  .map(({ method, route, fillings, slash, as, body }) => {
    let place = 0;
    return {
      method,
      path: route.replaceAll(/\{\w+\}/g, (hole) => fillings[place++] ?? hole) + slash,
      headers: [["content-type", "application/json"]],
      as,
      body: method === "GET" || method === "HEAD" ? null : body,
    };
  });

export const paths = requestTarget({
  name: "paths",
  about: "every method at every route, with anything for its parameters",
  shortRuns: 200,
  requests: pathRequests,
});
