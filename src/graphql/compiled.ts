import type { DocumentNode, ExecutionResult, OperationDefinitionNode } from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";

import type { GraphqlContext } from "./context.ts";
import { schema } from "./schema.ts";

type Variables = Readonly<Record<string, unknown>>;
/** The result of a run without errors; null where there is none, and nothing is known. */
type Compiled = (ctx: GraphqlContext, variables: Variables) => Promise<ExecutionResult | null>;

/**
 * Runs a query as compiled code, about twice as fast as GraphQL's own interpreter. Only what went well
 * is taken from it: of anything else the interpreter is asked anew, so that errors have one form, and
 * a fault of the compiler costs time alone. Never for mutations, which must not run twice. Compiling
 * takes as long as several runs, so it waits until the query has run `afterRuns` times.
 */
export function hotQuery(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  afterRuns: number,
): Compiled {
  let runs = 0;
  let compiled: ReturnType<typeof compile> | undefined;
  return async (ctx, variables) => {
    if (runs < afterRuns) {
      runs += 1;
      return null;
    }
    compiled ??= compile(document, operation);
    const result = await compiled?.query(undefined, ctx, variables);
    return result === undefined || result.errors !== undefined ? null : result;
  };
}

/** Null for what the compiler does not know to compile. */
function compile(document: DocumentNode, { name }: OperationDefinitionNode) {
  try {
    const compiled = compileQuery(schema, document, name?.value);
    return isCompiledQuery(compiled) ? compiled : null;
  } catch {
    return null;
  }
}
