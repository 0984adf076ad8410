import { GraphQLError, type GraphQLErrorExtensions } from "graphql";

import { AppError, type ErrorCode, isServerError } from "../../base/errors.ts";
import { problems } from "../rest/errors.ts";

/** For a client that takes none of the media types that there are; before anything is carried out. */
export function notAcceptable(types: string): GraphQLError {
  return new GraphQLError(`Accept must allow ${types}`, {
    extensions: { code: "NOT_ACCEPTABLE", status: 406, http: { status: 406 } },
  });
}

/** Null where a verb fails with `code`: queries say of what is missing that there is none. */
export async function nullWhere<Value>(
  code: ErrorCode,
  value: Promise<Value>,
): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof AppError && error.code === code) return null;
    throw error;
  }
}

/** What an error of ours carries: the same code and status as REST. */
export function extensionsOf({ code, extras }: AppError): GraphQLErrorExtensions {
  return {
    code,
    status: problems[code].status,
    ...(extras.errors && { errors: extras.errors }),
    ...(extras.seatsAvailable !== undefined && { seatsAvailable: extras.seatsAvailable }),
    ...(extras.retryAfterSeconds !== undefined && { retryAfterSeconds: extras.retryAfterSeconds }),
  };
}

/**
 * An error as its client may see it. Expected failures keep their code; of anything else nothing is
 * told but the code `internal`. `report` is given the failures that are ours, for the log.
 */
export function shown(error: GraphQLError, report: (failure: AppError) => void): GraphQLError {
  const failure = failureOf(error);
  if (failure === null) return error;
  if (isServerError(failure)) report(failure);
  return new GraphQLError(failure.detail, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: extensionsOf(failure),
  });
}

/** Null for an error that GraphQL found in the request, or that was made for the client. */
function failureOf(error: GraphQLError): AppError | null {
  const { originalError, path, extensions } = error;
  if (originalError === undefined || originalError === null) {
    // Found while resolving a field, and not by us: our data does not fit our schema.
    const isOurFault = path !== undefined && extensions["code"] === undefined;
    return isOurFault ? appErrorOf(error) : null;
  }
  if (originalError instanceof GraphQLError) return failureOf(originalError);
  return appErrorOf(originalError);
}

export function appErrorOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("internal", "Something went wrong on our side", { cause: error });
}
