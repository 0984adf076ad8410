import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import type { AnyElysia } from "elysia";

import { nextTurn } from "../../base/own-turn.ts";
import { apiVersion } from "../../base/version.ts";
import { problemSchema } from "../errors.ts";
import { problems } from "../problems.ts";

import { exampleOf } from "./example.ts";
import { problemResponseNames } from "./problem.schema.ts";

type Json = Record<string, unknown>;

const info = {
  title: "Skyhook",
  version: apiVersion,
  summary: "A webhook gateway and flight-booking service.",
  description: `**A first call:** open [Search flights](#tag/flights/GET/v1/api/flights) and press *Test Request*; it is public. Other requests use the
session of the [console](console) in this browser, or a token: \`skyhook token --email you@example.com\` prints one.

Errors are \`application/problem+json\` (RFC 9457). Programs should check \`code\`.
Times are ISO 8601 in UTC with milliseconds. Amounts of money are numbers in major units of their
currency. Lists are newest first; follow \`cursor\` or the \`Link\` header to the next page.`,
  license: { name: "MIT", identifier: "MIT" },
};

/** The tags by task, in the order of the page. */
const tagGroups = {
  "Sell seats": {
    Flights: "Search and read flights. Public, except for the seats sold.",
    Bookings: "Book seats, change and cancel bookings.",
    Users: "People and programs that can have an access token.",
  },
  "Receive webhooks": {
    Webhooks: "The endpoint for providers.",
    Providers: "Connect the services that send webhooks.",
    "Rejected webhooks": "Find out why a webhook was rejected.",
  },
  "Notify people and services": {
    Destinations: "Choose who receives which events.",
    "What destinations receive": "The requests that Skyhook sends.",
    Notifications: "What was sent, and what was not.",
  },
  Operate: {
    Events: "Read and follow what was received.",
    Replays: "Process stored events again.",
    "Issues and health": "What is wrong now, and how much is processed.",
  },
  "Control access": {
    Authentication: "Access tokens and the session of the console.",
    "Audit and sessions": "Who did what, and who can.",
  },
  "Run the service": { Service: "Health checks and explanations of errors. Public." },
};

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "An access token or an API key." },
  client: { type: "http", scheme: "basic", description: "A client's id and secret." },
};

/**
 * Makes the OpenAPI 3.1 document of all routes that are not hidden. `@elysiajs/openapi` describes the
 * routes. This function adds what the plugin does not support: request bodies that Skyhook parses itself, their examples,
 * descriptions and examples of parameters, `application/problem+json`, and named schemas inside others.
 * `others` are schemas that routes use by reference only; `webhooks` are what the service sends. Each route has a turn
 * of the event loop: all at once would block all requests for 30 ms.
 */
export async function openApiDocument(
  app: AnyElysia,
  others: readonly unknown[],
  webhooks: Json,
): Promise<Json> {
  const paths: Json = {};
  const named = new Map<string, unknown>();
  for (const route of app.routes) {
    const { detail = {}, body }: Hooks = route.hooks;
    if (detail.hide === true) continue;
    const withThisRoute: AnyElysia = Object.create(app, {
      getGlobalRoutes: { value: () => [route] },
    });
    const path = route.path.replaceAll(/:([^/]+)/g, "{$1}");
    const method = route.method.toLowerCase();
    const operation = objectAt(objectAt(toOpenAPISchema(withThisRoute).paths, path), method);
    const described = {
      ...operation,
      ...(body !== undefined && {
        requestBody: {
          required: true,
          content: { "application/json": { schema: body, example: exampleOf(body) } },
        },
      }),
      ...("parameters" in operation && { parameters: parametersOf(operation, detail) }),
      responses: responsesOf(operation, detail),
    };
    paths[path] = { ...objectAt(paths, path), [method]: withoutNamed(described, named) };
    await nextTurn();
  }
  withoutNamed([...others, problemSchema], named);
  const sent: Json = {};
  for (const [name, webhook] of Object.entries(webhooks)) {
    sent[name] = withoutNamed(webhook, named);
    await nextTurn();
  }
  return {
    openapi: "3.1.1",
    info,
    servers: [{ url: "/", description: "This server." }],
    // Operations are public unless they declare a security requirement.
    security: [],
    tags: Object.values(tagGroups).flatMap((tags) =>
      Object.entries(tags).map(([name, description]) => ({ name, description })),
    ),
    "x-tagGroups": Object.entries(tagGroups).map(([name, tags]) => ({
      name,
      tags: Object.keys(tags),
    })),
    paths,
    webhooks: sent,
    components: {
      schemas: Object.fromEntries([...named].toSorted(([one], [other]) => (one < other ? -1 : 1))),
      responses: componentResponses(),
      securitySchemes,
    },
  };
}

/** The parts of a route that the plugin omits or overwrites. */
interface Hooks {
  readonly body?: unknown;
  readonly detail?: Detail;
}

interface Detail {
  readonly hide?: boolean;
  readonly parameters?: readonly Json[];
  readonly responses?: Json;
}

/** Merges parameters, because the plugin drops those declared in `detail` if it generates any. */
function parametersOf({ parameters }: Json, { parameters: own = [] }: Detail): readonly Json[] {
  const names = new Set(own.map(({ name }) => name));
  const printed = Array.isArray(parameters) ? parameters.filter(isObject) : [];
  return [...printed.filter(({ name }) => !names.has(name)).map(described), ...own];
}

/** Moves description and example out of the schema, where OpenAPI expects them in a parameter or header. */
function described({ schema, ...parameter }: Json): Json {
  const { description, examples, ...rest } = isObject(schema) ? schema : {};
  const [example]: readonly unknown[] = Array.isArray(examples) ? examples : [];
  return {
    ...parameter,
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    schema: rest,
  };
}

/**
 * Merges responses, because the plugin drops those declared in `detail` if it generates any. Replaces error
 * responses by references, because they are the same for all operations.
 */
function responsesOf(operation: Json, { responses: own = {} }: Detail): Json {
  const all = Object.entries({ ...own, ...objectAt(operation, "responses") });
  return Object.fromEntries(
    all.map(([status, response]) => {
      const name = problemResponseNames[Number(status)];
      if (name !== undefined) return [status, { $ref: `#/components/responses/${name}` }];
      if (!isObject(response) || !isObject(response["headers"])) return [status, response];
      const headers = Object.entries(response["headers"]).map(([header, value]) => [
        header,
        isObject(value) ? described(value) : value,
      ]);
      return [status, { ...response, headers: Object.fromEntries(headers) }];
    }),
  );
}

/** The shared error responses by name, with their error codes and an example. */
function componentResponses(): Json {
  const entries = Object.entries(problemResponseNames).map(([status, name]) => {
    const codes = Object.entries(problems).filter(([, problem]) => `${problem.status}` === status);
    const [[code, problem] = ["", problems.internal]] = codes;
    const example = {
      type: `/problems/${code}`,
      title: problem.title,
      status: problem.status,
      detail: problem.explanation,
      instance: "urn:skyhook:request:req_019377b07d4070008000000000000001",
      code,
      requestId: "req_019377b07d4070008000000000000001",
    };
    const schema = { $ref: "#/components/schemas/Problem" };
    const headers = problemHeaders[Number(status)];
    const response = {
      description: codes.map(([each, { title }]) => `\`${each}\`: ${title}.`).join(" "),
      ...(headers !== undefined && { headers }),
      content: { "application/problem+json": { schema, example } },
    };
    return [name, response];
  });
  return Object.fromEntries(entries);
}

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === "number" ? "integer" : "string" },
  example,
});
const retryAfter = header("Seconds to wait before a retry.", 5);

const problemHeaders: Readonly<Record<number, Json>> = {
  401: { "WWW-Authenticate": header("How to authenticate (RFC 6750).", "Bearer") },
  415: { Accept: header("The supported media types.", "application/json") },
  429: {
    "Retry-After": retryAfter,
    "RateLimit-Policy": header("The quota.", '"auth-failures";q=20;w=60'),
    RateLimit: header(
      "The remaining quota, and the seconds until it resets.",
      '"auth-failures";r=0;t=42',
    ),
  },
  503: { "Retry-After": retryAfter },
};

/** Moves every named schema into `named` and replaces it by a reference. */
function withoutNamed(value: unknown, named: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNamed(item, named));
  if (!isObject(value)) return value;
  const { $id: name, ...rest } = value;
  const schema: Json = {};
  for (const [key, part] of Object.entries(rest)) {
    // Used by our validation only; not a JSON Schema keyword.
    if (key === "errorMessage") continue;
    // Values of the user's own: no schemas.
    if (key === "example" || key === "examples") {
      schema[key] = part;
      continue;
    }
    if (key === "properties" && isObject(part)) {
      const entries = Object.entries(part);
      schema[key] = Object.fromEntries(
        entries.map(([field, each]) => [field, withoutNamed(each, named)]),
      );
      continue;
    }
    // Client generators recognize a map by `additionalProperties`.
    const isRecord = key === "patternProperties" && isObject(part);
    if (isRecord) schema["additionalProperties"] = withoutNamed(Object.values(part)[0], named);
    else schema[key] = withoutNamed(part, named);
  }
  // The plugin merges a schema and null into one schema with two types, but leaves null out of its words.
  const isNullable = Array.isArray(schema["type"]);
  if (isNullable && Array.isArray(schema["enum"])) schema["enum"] = [...schema["enum"], null];
  if (typeof name !== "string") return schema;
  const reference = { $ref: `#/components/schemas/${name}` };
  named.set(name, isNullable ? { ...schema, type: "object" } : schema);
  return isNullable ? { anyOf: [reference, { type: "null" }] } : reference;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a nested object, or an empty one if it is missing. */
function objectAt(parent: Json, key: string): Json {
  const part = parent[key];
  return isObject(part) ? part : {};
}
