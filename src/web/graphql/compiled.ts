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
import { measureExpanded } from "./limits.ts";

/**
 * How often a query runs before it is compiled. Compiling takes as long as ten runs or more, so it does
 * not pay for a query that is sent only a few times.
 */
export const runsBeforeCompiling = 32;

/** Memory for compiled queries. */
const maxCompiledBytes = 32 * 1024 * 1024;

/**
 * The most fields of a query that is compiled, with its fragments expanded: the compiler repeats a fragment
 * at each spread. Compiling this many takes about 10 ms.
 */
const maxCompiledFields = 120;

/** Measured: 40 kB, and 5 kB per field. Rounded up. */
function bytesOf(fields: number): number {
  return 64_000 + fields * 6_000;
}

/** Runs an operation as compiled code. Null if it is not compiled, or if its result has errors. */
type Compiled = (
  operation: OperationDefinitionNode,
  args: ExecutionArgs,
) => Promise<ExecutionResult | null>;

/**
 * Compiles frequent queries, which makes them about twice as fast. If the result has errors, the caller
 * runs the interpreter, so that errors have one form. Mutations are never compiled: they must not run
 * twice.
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
    // A query that the cache drops must be as frequent again as a new one.
    runs.set(operation, 0);
    const { fields } = measureExpanded(document);
    if (fields > maxCompiledFields) return null;
    const query = compile(schema, operation, document);
    if (query !== null) queries.set(operation, query, bytesOf(fields));
    return query;
  }

  return async (operation, { document, contextValue, variableValues }) => {
    const query = operation.operation === "query" ? queryOf(operation, document) : null;
    const result = await query?.query(undefined, contextValue, variableValues);
    return result === undefined || result.errors !== undefined ? null : result;
  };
}

/** Null if the compiler does not support the query or would return a different result. */
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
 * Whether the document uses `@include` or `@skip`. If such a field is selected twice, graphql-jit puts it
 * in the wrong place of the response (GraphQL section 6.3.2) or omits it.
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
