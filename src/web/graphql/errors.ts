import { GraphQLError, type GraphQLErrorExtensions } from "graphql";

import { AppError, isServerError } from "../../base/errors.ts";
import { problemMembers } from "../errors.ts";
import { problems } from "../problems.ts";

/** For a client that accepts none of the available media types. */
export function notAcceptable(types: string): GraphQLError {
  return new GraphQLError(`Accept must allow ${types}`, {
    extensions: { code: "NOT_ACCEPTABLE", status: 406, http: { status: 406 } },
  });
}

/** The same code, status and fields as in REST's problem response. */
export function extensionsOf(error: AppError): GraphQLErrorExtensions {
  const { code, extras } = error;
  return {
    code,
    status: problems[code].status,
    ...problemMembers(error),
    ...(extras.retryAfterSeconds !== undefined && { retryAfterSeconds: extras.retryAfterSeconds }),
  };
}

/**
 * The error to send to the client. Expected errors keep their code; any other becomes `internal`,
 * without its message. Server errors are passed to `log`.
 */
export function clientError(error: GraphQLError, log: (error: AppError) => void): GraphQLError {
  const cause = causeOf(error);
  if (cause === null) return error;
  if (isServerError(cause)) log(cause);
  return new GraphQLError(cause.detail, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: extensionsOf(cause),
  });
}

/** Null for an error that GraphQL found in the request, or that was written for the client. */
function causeOf(error: GraphQLError): AppError | null {
  const { originalError, path, extensions } = error;
  if (originalError === undefined || originalError === null) {
    // Thrown by GraphQL while it resolved a field: a value does not fit the schema.
    const isServerData = path !== undefined && extensions["code"] === undefined;
    return isServerData ? appErrorOf(error) : null;
  }
  if (originalError instanceof GraphQLError) return causeOf(originalError);
  return appErrorOf(originalError);
}

export function appErrorOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("internal", "An internal error occurred. Try again later.", { cause: error });
}
