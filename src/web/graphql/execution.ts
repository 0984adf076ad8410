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

import type { ErrorLog } from "../error-log.ts";

import { compiledQueries } from "./compiled.ts";
import type { GraphqlContext } from "./context.ts";
import { type Cost, costOf } from "./cost.ts";
import { clientError } from "./errors.ts";
import { limits, overLimit } from "./limits.ts";
import { variableErrors } from "./variables.ts";
import { withoutValues } from "./without-values.ts";

/** Checks the cost and variables of operations, executes them and masks their errors. */
export function useExecution(
  schema: GraphQLSchema,
  introspection: boolean,
  logError: ErrorLog,
): Plugin<GraphqlContext> {
  const compiled = compiledQueries(schema);
  const costs = new WeakMap<OperationDefinitionNode, Cost>();

  async function check(
    operation: OperationDefinitionNode,
    args: ExecutionArgs,
    { admit }: GraphqlContext,
  ): Promise<ExecutionResult | null> {
    let cost = costs.get(operation);
    if (cost === undefined) {
      cost = costOf(schema, args.document, operation);
      costs.set(operation, cost);
    }
    const variables = args.variableValues ?? {};
    const found = cost(variables);
    if (found > limits.complexity) {
      return { errors: [overLimit("complexity", `up to ${found} fields in its answer`)] };
    }
    await admit(found);
    const errors = variableErrors(schema, operation, variables, !introspection);
    return errors.length === 0 ? null : { errors: errors.map(asInputError) };
  }

  return {
    onExecute({ args: { contextValue }, setExecuteFn }) {
      setExecuteFn(async (args: ExecutionArgs) => {
        const operation = operationOf(args);
        const rejection = await check(operation, args, contextValue);
        if (rejection !== null) return rejection;
        const result = await compiled(operation, args);
        return result ?? maskResult(await execute(args), contextValue, logError);
      });
    },
    onSubscribe({ args: { contextValue }, setSubscribeFn }) {
      setSubscribeFn(async (args: ExecutionArgs) => {
        const rejection = await check(operationOf(args), args, contextValue);
        if (rejection !== null) return rejection;
        const result = await subscribe(args);
        return isAsyncIterable(result)
          ? mapAsyncIterator(result, (item) => maskResult(item, contextValue, logError))
          : maskResult(result, contextValue, logError);
      });
    },
  };
}

function operationOf({ document, operationName }: ExecutionArgs): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  // graphql-yoga has checked that the operation exists.
  if (!operation) throw new Error("The document has no such operation");
  return operation;
}

function maskResult(
  result: ExecutionResult,
  { requestId }: GraphqlContext,
  logError: ErrorLog,
): ExecutionResult {
  if (result.errors === undefined) return result;
  const errors = result.errors.map((error) =>
    clientError(error, (cause) => logError(cause, requestId)),
  );
  // Without data, execution did not start: the variables do not fit their types.
  return "data" in result
    ? { ...result, errors }
    : { errors: errors.map(withoutValues).map(asInputError) };
}

function asInputError(error: GraphQLError): GraphQLError {
  Object.assign(error.extensions, { code: "BAD_USER_INPUT", status: 400, ...error.extensions });
  return error;
}
