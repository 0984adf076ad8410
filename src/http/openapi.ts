import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import type { AnyElysia } from "elysia";

import { apiVersion } from "../version.ts";

import { problems } from "./errors.ts";
import { failureNames, problemSchema } from "./problem.schema.ts";

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
 * The OpenAPI 3.1 document of all routes that have an operation id. The plugin prints the routes; added
 * is what it leaves out: named schemas, bodies that we read ourselves, the form of failures. `others`
 * are schemas that are only referred to.
 */
export function openApiDocument(app: AnyElysia, others: readonly unknown[]): Json {
  const printed = toOpenAPISchema(app).paths;
  const paths: Json = {};
  for (const { method, path, hooks } of app.routes) {
    const { detail = {}, body }: Hooks = hooks;
    if (detail.operationId === undefined) continue;
    const at = path.replaceAll(/:([^/]+)/g, "{$1}");
    const operation = objectIn(objectIn(printed, at), method.toLowerCase());
    objectIn(paths, at)[method.toLowerCase()] = operation;
    if (body !== undefined) operation["requestBody"] = requestBody(body, detail);
    addParameters(operation, detail);
    addResponses(operation, detail);
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
      responses: failureResponses(),
      securitySchemes,
    },
  };
}

/** What a route says of itself, as far as it matters here. */
interface Hooks {
  readonly body?: unknown;
  readonly detail?: Detail;
}

interface Detail {
  readonly operationId?: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: Json };
  readonly responses?: Json;
}

/** The plugin prints no body where nothing of Elysia's parses it. */
function requestBody(schema: unknown, { requestBody: own }: Detail): Json {
  const types = Object.keys(own?.content ?? { "application/json": {} });
  return { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** Words and examples belong to the parameter, not to its schema; a route's own words win. */
function addParameters(operation: Json, { parameters: own = [] }: Detail): void {
  const printed = itemsOf(operation["parameters"]).filter(
    ({ name }) => !own.some((parameter) => parameter["name"] === name),
  );
  const all = [...printed.map(described), ...own];
  if (all.length > 0) operation["parameters"] = all;
}

/** A parameter or header with the words and the example that its schema has. */
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

/** A failure is the same for every operation; what a route says of others is kept. */
function addResponses(operation: Json, { responses: own = {} }: Detail): void {
  const responses: Json = { ...own, ...objectIn(operation, "responses") };
  for (const [status, response] of Object.entries(responses)) {
    if (!isObject(response)) continue;
    const name = failureNames[Number(status)];
    if (name !== undefined) responses[status] = { $ref: `#/components/responses/${name}` };
    const headers = Object.entries(isObject(response["headers"]) ? response["headers"] : {});
    for (const [header, value] of headers) {
      if (isObject(value)) Reflect.set(response["headers"] ?? {}, header, described(value));
    }
  }
  operation["responses"] = responses;
}

/** Every failure by its name: what its codes are, and what it looks like. */
function failureResponses(): Json {
  const entries = Object.entries(failureNames).map(([status, name]) => {
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
    const headers = failureHeaders[Number(status)];
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

const failureHeaders: Readonly<Record<number, Json>> = {
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
    // Clients must bear with fields that are new, and our checks' own words are none of theirs.
    if ((key === "additionalProperties" && part === false) || key === "errorMessage") continue;
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

function itemsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** An object's part, for changing in place; made when there is none. */
function objectIn(parent: object, key: string): Json {
  const part: unknown = Reflect.get(parent, key);
  if (isObject(part)) return part;
  const made = {};
  Reflect.set(parent, key, made);
  return made;
}
