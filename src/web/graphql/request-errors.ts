import { GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";

import { AppError, type ErrorCode, isServerError } from "../../base/errors.ts";
import type { ErrorLog } from "../error-log.ts";
import { headersOf } from "../errors.ts";
import { problems } from "../problems.ts";

import { appErrorOf, clientError, extensionsOf } from "./errors.ts";

/** Logs server errors of `work` with the request's id, and throws every error as an `AppError`. */
export async function withErrorLog<Value>(
  work: Promise<Value> | Value,
  requestId: string,
  logError: ErrorLog,
): Promise<Value> {
  try {
    return await work;
  } catch (thrown) {
    const error = appErrorOf(thrown);
    if (isServerError(error)) logError(error, requestId);
    throw error;
  }
}

/** The error to send to the client for a request that was not executed. */
export function maskError(thrown: unknown, logError: ErrorLog): GraphQLError {
  if (thrown instanceof GraphQLError) {
    const error = clientError(thrown, (cause) => logError(cause, null));
    if (error.path === undefined) completeExtensions(error);
    return error;
  }
  const error = appErrorOf(thrown);
  // An AppError was already logged, with the request's id, by `withErrorLog`.
  if (!(thrown instanceof AppError)) logError(error, null);
  const http = { status: problems[error.code].status, headers: headersOf(error) };
  return new GraphQLError(error.detail, { extensions: { ...extensionsOf(error), http } });
}

/** Adds a code and an HTTP status to the errors of requests that were not executed. */
export function useRequestErrors(): Plugin {
  return {
    onExecutionResult({ result }) {
      if (result === undefined || !("errors" in result) || "data" in result) return;
      for (const error of result.errors ?? []) completeExtensions(error);
    },
  };
}

function completeExtensions({ extensions }: GraphQLError): void {
  const { http, ...given } = extensions;
  const status = statusIn(http) ?? 400;
  Object.assign(extensions, {
    ...given,
    code:
      given["code"] === undefined || given["code"] === "BAD_REQUEST"
        ? codes[status]
        : given["code"],
    status: given["status"] ?? status,
    // `spec`: use the status only for application/graphql-response+json (GraphQL over HTTP).
    http: http ?? { status, spec: true },
  });
}

/** Codes for the errors of graphql-yoga itself. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: "bad-request",
  405: "method-not-allowed",
};

function statusIn(http: unknown): number | null {
  const isObject = typeof http === "object" && http !== null && "status" in http;
  return isObject && typeof http.status === "number" ? http.status : null;
}
