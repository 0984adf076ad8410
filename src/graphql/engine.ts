import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  subscribe,
  validate,
} from "graphql";

import type { FailureLog } from "../http/failure-log.ts";

import type { GraphqlContext } from "./context.ts";
import { type Cost, costOf } from "./cost.ts";
import { hotQuery } from "./compiled.ts";
import { shown } from "./errors.ts";
import { limitFaults, limits, overLimit } from "./limits.ts";
import { schema } from "./schema.ts";
import { withoutValues } from "./without-values.ts";

type Variables = Readonly<Record<string, unknown>>;

/** One of a document's operations, ready to run. */
export interface Operation {
  readonly kind: OperationDefinitionNode["operation"];
  /** Never throws; errors are as the client may see them. A result without `data` did not begin. */
  run(ctx: GraphqlContext, variables: Variables): ExecutionResult | Promise<ExecutionResult>;
  follow(
    ctx: GraphqlContext,
    variables: Variables,
  ): Promise<ExecutionResult | AsyncIterable<ExecutionResult>>;
}

/** Everything between a query's text and its result, limits included; the same for every way in. */
export interface Engine {
  /** Throws a `GraphQLError` for what cannot be parsed. */
  parse(query: string): DocumentNode;
  /** What stands against running a document; empty when nothing does. */
  validate(document: DocumentNode): readonly GraphQLError[];
  /** Of a valid document; null when `name` is none of its operations, or is needed to choose one. */
  operation(document: DocumentNode, name: string | null): Operation | null;
}

export interface EngineOptions {
  /** Whether the schema is told. */
  readonly introspection: boolean;
  /** How often a query runs before it is compiled; Infinity: it never is. */
  readonly compileAfterRuns: number;
}

/** Texts longer than this are not remembered, so that the memory has a bound. */
const longestRemembered = 8_192;
const mostRemembered = 500;

export function createEngine(
  logFailure: FailureLog,
  { introspection, compileAfterRuns }: EngineOptions,
): Engine {
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const documents = new Map<string, DocumentNode>();
  const faults = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  const operations = new WeakMap<DocumentNode, Map<string | null, Operation>>();

  function check(document: DocumentNode): readonly GraphQLError[] {
    const broken = limitFaults(document);
    if (broken.length > 0) return broken;
    const found = validate(schema, document, rules).map(withoutValues);
    return introspection ? found : found.map(withoutSuggestion);
  }

  function prepare(document: DocumentNode, node: OperationDefinitionNode): Operation {
    const cost = costOf(schema, document, node);
    const argsFor = (contextValue: GraphqlContext, variableValues: Variables) => ({
      schema,
      document,
      operationName: node.name?.value ?? null,
      contextValue,
      variableValues,
    });
    const compiled = node.operation === "query" ? hotQuery(document, node, compileAfterRuns) : null;
    return {
      kind: node.operation,
      async run(ctx, variables) {
        const refusal = tooComplex(cost, variables);
        if (refusal !== null) return refusal;
        const result = await compiled?.(ctx, variables);
        return result ?? clean(await execute(argsFor(ctx, variables)), ctx, logFailure);
      },
      async follow(ctx, variables) {
        const refusal = tooComplex(cost, variables);
        if (refusal !== null) return refusal;
        const result = await subscribe(argsFor(ctx, variables));
        return Symbol.asyncIterator in result
          ? mapped(result, (item) => clean(item, ctx, logFailure))
          : clean(result, ctx, logFailure);
      },
    };
  }

  return {
    parse(query) {
      const known = documents.get(query);
      if (known !== undefined) return known;
      const document = parseDocument(query);
      if (query.length <= longestRemembered) {
        const [oldest] = documents.keys();
        if (documents.size >= mostRemembered && oldest !== undefined) documents.delete(oldest);
        documents.set(query, document);
      }
      return document;
    },
    validate(document) {
      let found = faults.get(document);
      if (found === undefined) {
        found = check(document);
        faults.set(document, found);
      }
      return found;
    },
    operation(document, name) {
      const known = operations.get(document) ?? new Map<string | null, Operation>();
      operations.set(document, known);
      const node = getOperationAST(document, name);
      if (!node) return null;
      const operation = known.get(name) ?? prepare(document, node);
      known.set(name, operation);
      return operation;
    },
  };
}

function parseDocument(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: limits.tokens });
  } catch (error) {
    throw error instanceof GraphQLError ? withoutValues(error) : error;
  }
}

function tooComplex(cost: Cost, variables: Variables): ExecutionResult | null {
  const found = cost(variables);
  if (found <= limits.complexity) return null;
  return { errors: [overLimit("complexity", `up to ${found} fields in its answer`)] };
}

/** A result whose errors are as the client may see them. */
function clean(
  result: ExecutionResult,
  { requestId }: GraphqlContext,
  logFailure: FailureLog,
): ExecutionResult {
  if (result.errors === undefined) return result;
  const errors = result.errors.map((error) =>
    shown(error, (failure) => logFailure(failure, requestId)),
  );
  // Without data nothing was begun: the request itself is at fault, in its variables mostly.
  return "data" in result
    ? { ...result, errors }
    : { errors: errors.map(withoutValues).map(asInput) };
}

function asInput(error: GraphQLError): GraphQLError {
  Object.assign(error.extensions, { code: "BAD_USER_INPUT", status: 400, ...error.extensions });
  return error;
}

/** Where the schema is not told, neither are names that nearly fit. */
function withoutSuggestion(error: GraphQLError): GraphQLError {
  const message = error.message.replace(/ ?Did you mean [^?]*\?/, "");
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    extensions: error.extensions,
  });
}

/** Ends the source as soon as it is ended itself, also between two items. */
function mapped<Item>(
  source: AsyncIterable<Item>,
  map: (item: Item) => Item,
): AsyncIterableIterator<Item> {
  const items = source[Symbol.asyncIterator]();
  const iterator: AsyncIterableIterator<Item> = {
    async next() {
      const result = await items.next();
      return result.done === true ? result : { done: false, value: map(result.value) };
    },
    async return() {
      await items.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
