import { GraphQLError } from "graphql";

/**
 * A fault of a request without the value at fault: that may be a passport, and errors end up in logs
 * and trackers that are none of ours. Where it stands and what should stand there is still told.
 */
export function withoutValues(error: GraphQLError): GraphQLError {
  const message = messageWithoutValue(error);
  if (message === error.message) return error;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: error.extensions,
  });
}

function messageWithoutValue({ message, originalError }: GraphQLError): string {
  // A variable's: `Variable "$name" got invalid value VALUE at "name.path"; FAULT`.
  const fault = originalError?.message;
  const [, variable] = /^(Variable "\$\w+" got invalid value) /.exec(message) ?? [];
  if (variable !== undefined && fault !== undefined && message.endsWith(`; ${fault}`)) {
    const before = message.slice(0, -fault.length - 2);
    // No value ends so: what is printed of a text has its quotes escaped.
    const [place = ""] = / at "\w+(?:\.\w+|\[\d+\])+"$/.exec(before) ?? [];
    return `${variable}${place}; ${shapeOf(fault)}`;
  }
  return shapeOf(message);
}

function shapeOf(message: string): string {
  if (message.startsWith("Syntax Error: ")) {
    return message.replace(/\b(String|BlockString|Int|Float) ".*(?=\.$)/s, "$1");
  }
  return message
    .replace(/( cannot represent [^:]*): .*$/s, "$1")
    .replace(/^(Expected value of type "[^"]*"), found .*$/s, "$1")
    .replace(/^Value ".*" does not exist in/s, "The value does not exist in");
}
