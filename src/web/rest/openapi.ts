import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import type { AnyElysia } from "elysia";

import { apiVersion } from "../../base/version.ts";

import { problems } from "./errors.ts";
import { problemResponseNames, problemSchema } from "./problem.schema.ts";

type Json = Record<string, unknown>;

const info = {
  title: "Skyhook",
  version: apiVersion,
  summary: "A webhook gateway and flight-booking service.",
  description: `Errors are \`application/problem+json\` (RFC 9457); \`code\` is what programs should look at.
Times are ISO 8601 in UTC with milliseconds. Amounts of money are numbers in major units of their
currency. Lists are newest first and go on by \`cursor\`, or by the \`Link\` header.`,
  license: { name: "MIT", identifier: "MIT" },
};

const tags = [
  { name: "Flights", description: "Look for flights. Public." },
  { name: "Bookings", description: "Buy seats and give them back." },
  { name: "Users", description: "People and programs that can hold a token." },
  { name: "Authentication", description: "Tokens for programs." },
  { name: "Webhooks", description: "Where providers post." },
  { name: "Operators", description: "What came in, who was told, what was refused." },
  { name: "Service", description: "Health and explanations. Public." },
];

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "An access token." },
  client: { type: "http", scheme: "basic", description: "A client's id and secret." },
};

/**
 * The OpenAPI 3.1 document of all routes that are not hidden. `@elysiajs/openapi` describes the routes;
 * this adds what it cannot: request bodies that we parse ourselves, descriptions and examples of
 * parameters, `application/problem+json`, and named schemas within others. `others` are schemas that are
 * only referred to.
 */
export function openApiDocument(app: AnyElysia, others: readonly unknown[]): Json {
  const paths: Json = toOpenAPISchema(app).paths;
  for (const { method, path, hooks } of app.routes) {
    const { detail = {}, body }: Hooks = hooks;
    if (detail.hide === true) continue;
    const operations = objectAt(paths, path.replaceAll(/:([^/]+)/g, "{$1}"));
    const operation = objectAt(operations, method.toLowerCase());
    operations[method.toLowerCase()] = {
      ...operation,
      ...(body !== undefined && {
        requestBody: { required: true, content: { "application/json": { schema: body } } },
      }),
      ...("parameters" in operation && { parameters: parametersOf(operation, detail) }),
      responses: responsesOf(operation, detail),
    };
  }
  const named = new Map<string, unknown>();
  const pathsByReference = withoutNamed(paths, named);
  withoutNamed([...others, problemSchema], named);
  return {
    openapi: "3.1.1",
    info,
    servers: [{ url: "/", description: "This server." }],
    // Public, unless an operation says otherwise.
    security: [],
    tags,
    paths: pathsByReference,
    components: {
      schemas: Object.fromEntries([...named].toSorted(([one], [other]) => (one < other ? -1 : 1))),
      responses: componentResponses(),
      securitySchemes,
    },
  };
}

/** The parts of a route that the plugin leaves out or overwrites. */
interface Hooks {
  readonly body?: unknown;
  readonly detail?: Detail;
}

interface Detail {
  readonly hide?: boolean;
  readonly parameters?: readonly Json[];
  readonly responses?: Json;
}

/** The plugin drops a route's own parameters where it has found any. */
function parametersOf({ parameters }: Json, { parameters: own = [] }: Detail): readonly Json[] {
  const names = new Set(own.map(({ name }) => name));
  const printed = Array.isArray(parameters) ? parameters.filter(isObject) : [];
  return [...printed.filter(({ name }) => !names.has(name)).map(described), ...own];
}

/** OpenAPI has the description and example of a parameter or header beside its schema. */
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

/** Each failure is the same for every operation. The plugin drops a route's own responses where it prints others. */
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

/** Every failure by its name: what its codes are, and what it looks like. */
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
const retryAfter = header("Seconds after which trying again makes sense.", 5);

const problemHeaders: Readonly<Record<number, Json>> = {
  401: { "WWW-Authenticate": header("How to authenticate (RFC 6750).", "Bearer") },
  415: { Accept: header("What would be taken.", "application/json") },
  429: {
    "Retry-After": retryAfter,
    "RateLimit-Policy": header("The quota.", '"auth-failures";q=20;w=60'),
    RateLimit: header("What is left of it, and until when.", '"auth-failures";r=0;t=42'),
  },
  503: { "Retry-After": retryAfter },
};

/** Takes every schema with a name out of a value, into `named`, and leaves a reference behind. */
function withoutNamed(value: unknown, named: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNamed(item, named));
  if (!isObject(value)) return value;
  const { $id: name, ...rest } = value;
  const schema: Json = {};
  for (const [key, part] of Object.entries(rest)) {
    // A message of our own validation, no keyword of JSON Schema.
    if (key === "errorMessage") continue;
    // Generators of clients know a map by `additionalProperties`.
    const isRecord = key === "patternProperties" && isObject(part);
    if (isRecord) schema["additionalProperties"] = withoutNamed(Object.values(part)[0], named);
    else schema[key] = withoutNamed(part, named);
  }
  if (typeof name !== "string") return schema;
  // The plugin folds "this or null" into one schema of two types.
  const isNullable = Array.isArray(schema["type"]);
  const reference = { $ref: `#/components/schemas/${name}` };
  named.set(name, isNullable ? { ...schema, type: "object" } : schema);
  return isNullable ? { anyOf: [reference, { type: "null" }] } : reference;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A part of an object that is one itself; an empty one where there is none. */
function objectAt(parent: Json, key: string): Json {
  const part = parent[key];
  return isObject(part) ? part : {};
}
