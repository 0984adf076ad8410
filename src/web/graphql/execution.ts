import {
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  subscribe,
} from "graphql";
import { isAsyncIterable, mapAsyncIterator, type Plugin } from "graphql-yoga";

import type { ErrorLog } from "../rest/error-log.ts";

import { compiledQueries } from "./compiled.ts";
import type { GraphqlContext } from "./context.ts";
import { type Cost, costOf } from "./cost.ts";
import { shown } from "./errors.ts";
import { limits, overLimit } from "./limits.ts";
import { withoutValues } from "./without-values.ts";

/** Executes operations that do not cost too much. Errors are as the client may see them. */
export function useExecution(schema: GraphQLSchema, logError: ErrorLog): Plugin<GraphqlContext> {
  const compiled = compiledQueries(schema);
  const costs = new WeakMap<OperationDefinitionNode, Cost>();

  function check(operation: OperationDefinitionNode, args: ExecutionArgs): ExecutionResult | null {
    let cost = costs.get(operation);
    if (cost === undefined) {
      cost = costOf(schema, args.document, operation);
      costs.set(operation, cost);
    }
    const found = cost(args.variableValues ?? {});
    if (found <= limits.complexity) return null;
    return { errors: [overLimit("complexity", `up to ${found} fields in its answer`)] };
  }

  return {
    onExecute({ args: { contextValue }, setExecuteFn }) {
      setExecuteFn(async (args: ExecutionArgs) => {
        const operation = operationOf(args);
        const refusal = check(operation, args);
        if (refusal !== null) return refusal;
        const result = await compiled(operation, args);
        return result ?? clean(await execute(args), contextValue, logError);
      });
    },
    onSubscribe({ args: { contextValue }, setSubscribeFn }) {
      setSubscribeFn(async (args: ExecutionArgs) => {
        const refusal = check(operationOf(args), args);
        if (refusal !== null) return refusal;
        const result = await subscribe(args);
        return isAsyncIterable(result)
          ? mapAsyncIterator(result, (item) => clean(item, contextValue, logError))
          : clean(result, contextValue, logError);
      });
    },
  };
}

function operationOf({ document, operationName }: ExecutionArgs): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  // Yoga refuses an operation that cannot be determined before it comes to this.
  if (!operation) throw new Error("There is no such operation");
  return operation;
}

/** A result whose errors are as the client may see them. */
function clean(
  result: ExecutionResult,
  { requestId }: GraphqlContext,
  logError: ErrorLog,
): ExecutionResult {
  if (result.errors === undefined) return result;
  const errors = result.errors.map((error) =>
    shown(error, (failure) => logError(failure, requestId)),
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
