import type { DocumentNode } from "graphql";

import { type JsonType, jsonTypes } from "./accept.ts";
import type { GraphqlContext } from "./context.ts";
import type { Engine } from "./engine.ts";

/** Null for what it leaves to graphql-yoga. */
export type FastPath = (
  body: unknown,
  accepted: readonly string[],
  ctx: GraphqlContext,
) => Promise<Response> | null;

/**
 * Answers what nearly every client sends: one valid query or mutation, posted as JSON, to be answered
 * as JSON. It only goes around yoga's general machinery: parsing, limits, execution and errors are the
 * same engine's. Whatever is unusual or wrong in any way is left to yoga, which knows what to say.
 */
export function fastPath(engine: Engine): FastPath {
  function documentOf(query: string): DocumentNode | null {
    try {
      const document = engine.parse(query);
      return engine.validate(document).length === 0 ? document : null;
    } catch {
      return null;
    }
  }

  return (body, accepted, ctx) => {
    const type = plainType(accepted);
    const parameters = type && parametersOf(body);
    const document = parameters && documentOf(parameters.query);
    const operation = document && engine.operation(document, parameters.operationName);
    if (!type || !operation || operation.kind === "subscription") return null;
    return respond(operation.run(ctx, parameters.variables), type);
  };
}

async function respond(
  result: ReturnType<NonNullable<ReturnType<Engine["operation"]>>["run"]>,
  type: JsonType,
): Promise<Response> {
  const { data, errors } = await result;
  // A request that was not carried out fails as such where the media type lets it (GraphQL over HTTP).
  const status = data === undefined && type === "application/graphql-response+json" ? 400 : 200;
  const body = errors === undefined ? { data } : { errors, data };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": `${type}; charset=utf-8` },
  });
}

/** The media type to answer with where the client takes JSON in one of its two types, and no other. */
function plainType(accepted: readonly string[]): JsonType | null {
  const [best] = accepted;
  if (best === "*/*") return "application/json";
  const types = accepted.map((type) => jsonTypes.find((jsonType) => jsonType === type));
  return types.includes(undefined) ? null : (types[0] ?? null);
}

interface Parameters {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

const names = new Set(["query", "operationName", "variables", "extensions"]);

/** Null for a body that is not exactly as the specification wants it. */
function parametersOf(body: unknown): Parameters | null {
  if (!isObject(body) || !Object.keys(body).every((name) => names.has(name))) return null;
  const { query, operationName = null, variables, extensions } = body;
  if (typeof query !== "string") return null;
  if (operationName !== null && typeof operationName !== "string") return null;
  if (!isAbsent(variables) && !isObject(variables)) return null;
  if (!isAbsent(extensions) && !isObject(extensions)) return null;
  return { query, operationName, variables: variables ?? {} };
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
