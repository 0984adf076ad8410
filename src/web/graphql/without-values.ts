import { GraphQLError } from "graphql";

/**
 * Removes the invalid value from the message of an error: it may be a passport number, and clients send
 * errors to logs and trackers. The message still names the place and the expected type.
 */
export function withoutValues(error: GraphQLError): GraphQLError {
  const message = withoutValue(error.message);
  if (message === error.message) return error;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: error.extensions,
  });
}

/** Removes the value from the text of an error. */
export function withoutValue(message: string): string {
  if (message.startsWith("Syntax Error: ")) {
    return message.replace(/\b(String|BlockString|Int|Float) ".*(?=\.$)/s, "$1");
  }
  return message
    .replace(/( cannot represent [^:]*): .*$/s, "$1")
    .replace(/^(Expected value of type "[^"]*"), found .*$/s, "$1")
    .replace(/^Value ".*" does not exist in/s, "The value does not exist in");
}
