import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  print,
  typeFromAST,
} from "graphql";

import { withoutValue } from "./without-values.ts";

/** The most errors that one response lists. */
const maxErrors = 50;

class TooManyErrors extends Error {}

/**
 * An error for each variable, or part of one, that does not fit its type; empty if `execute` will accept them all.
 * `execute` itself prints the enclosing value into each error: with thousands of unknown fields in an object, that
 * takes 50 times the object's size. These messages contain no values.
 */
export function variableErrors(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  hideSuggestions: boolean,
): readonly GraphQLError[] {
  const errors: GraphQLError[] = [];
  const add = (message: string, nodes: OperationDefinitionNode["variableDefinitions"]) => {
    if (errors.length >= maxErrors) throw new TooManyErrors();
    errors.push(new GraphQLError(message, { nodes: nodes ?? null }));
  };
  try {
    for (const definition of variableDefinitions) {
      const name = definition.variable.name.value;
      const type = typeFromAST(schema, definition.type);
      // Validation has checked this.
      if (!isInputType(type)) continue;
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value === undefined || value === null) {
        if (!isNonNullType(type) || (value === undefined && definition.defaultValue)) continue;
        const [kind, rest] =
          value === null ? ["non-null", "must not be null"] : ["required", "was not provided"];
        add(`Variable "$${name}" of ${kind} type "${print(definition.type)}" ${rest}.`, [
          definition,
        ]);
        continue;
      }
      const onError = (path: readonly (string | number)[], _: unknown, error: GraphQLError) => {
        const place = path.length === 0 ? "" : ` at "${name}${path.map(step).join("")}"`;
        const message = `Variable "$${name}" got invalid value${place}; ${withoutValue(error.message)}`;
        add(message, [definition]);
      };
      coerceInputValue(value, type, onError, hideSuggestions);
    }
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    errors.push(
      new GraphQLError(`More than ${maxErrors} errors in the variables. The rest is not listed.`),
    );
  }
  return errors;
}

function step(key: string | number): string {
  return typeof key === "number" ? `[${key}]` : `.${key}`;
}
