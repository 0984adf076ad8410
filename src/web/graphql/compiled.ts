import {
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  visit,
} from "graphql";
import { type CompiledQuery, compileQuery, isCompiledQuery } from "graphql-jit";

import { ByteCache } from "./byte-cache.ts";
import { limits } from "./limits.ts";

/**
 * How often a query runs before it is compiled. Compiling takes as long as ten runs or more: it does
 * not pay for a query that was made up and is sent a few times.
 */
export const runsBeforeCompiling = 32;

/** Memory for compiled queries. */
const maxCompiledBytes = 32 * 1024 * 1024;

/** Of a compiled query, measured: 40 kB, and 2 kB for each token of its document; rounded up. */
function bytesOf({ tokenCount = limits.tokens }: DocumentNode): number {
  return 64_000 + tokenCount * 4_000;
}

/** Runs an operation as compiled code. Null where it is not compiled, or did not run without errors. */
type Compiled = (
  operation: OperationDefinitionNode,
  args: ExecutionArgs,
) => Promise<ExecutionResult | null>;

/**
 * Compiles queries that come again and again: as compiled code they run about twice as fast. Only what
 * went well is taken from it. Otherwise the caller asks the interpreter, so that errors have one form.
 * Never for mutations, which must not run twice.
 */
export function compiledQueries(schema: GraphQLSchema): Compiled {
  const queries = new ByteCache<OperationDefinitionNode, CompiledQuery>(maxCompiledBytes);
  const runs = new WeakMap<OperationDefinitionNode, number>();

  function queryOf(operation: OperationDefinitionNode, document: DocumentNode) {
    const known = queries.get(operation);
    if (known !== undefined) return known;
    const count = runs.get(operation) ?? 0;
    runs.set(operation, count + 1);
    if (count < runsBeforeCompiling) return null;
    // One that is forgotten again has to come as often as a new one.
    runs.set(operation, 0);
    const query = compile(schema, operation, document);
    if (query !== null) queries.set(operation, query, bytesOf(document));
    return query;
  }

  return async (operation, { document, contextValue, variableValues }) => {
    const query = operation.operation === "query" ? queryOf(operation, document) : null;
    const result = await query?.query(undefined, contextValue, variableValues);
    return result === undefined || result.errors !== undefined ? null : result;
  };
}

/** Null for what the compiler does not know to compile, or compiles to something else. */
function compile(
  schema: GraphQLSchema,
  { name }: OperationDefinitionNode,
  document: DocumentNode,
): CompiledQuery | null {
  if (hasConditions(document)) return null;
  try {
    const compiled = compileQuery(schema, document, name?.value);
    return isCompiledQuery(compiled) ? compiled : null;
  } catch {
    return null;
  }
}

/**
 * Whether fields may be left out by `@include` or `@skip`. Where such a field is selected twice, the
 * compiler gets its place in the answer wrong (GraphQL section 6.3.2), and may lose it.
 */
function hasConditions(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive() {
      found = true;
      return BREAK;
    },
  });
  return found;
}
