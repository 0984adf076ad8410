import { GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";

import { AppError, type ErrorCode, isServerError } from "../../base/errors.ts";
import { headersOf, problems } from "../rest/errors.ts";
import type { ErrorLog } from "../rest/error-log.ts";

import { appErrorOf, extensionsOf, shown } from "./errors.ts";

/** Logs a failure of ours before a request is carried out, under the request's id. */
export async function logged<Value>(
  work: Promise<Value> | Value,
  requestId: string,
  logError: ErrorLog,
): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    const failure = appErrorOf(error);
    if (isServerError(failure)) logError(failure, requestId);
    throw failure;
  }
}

/** An error of a request that was not carried out, as its client may see it. */
export function masked(error: unknown, logError: ErrorLog): GraphQLError {
  if (error instanceof GraphQLError) {
    const cleaned = shown(error, (failure) => logError(failure, null));
    if (cleaned.path === undefined) asRefusal(cleaned);
    return cleaned;
  }
  const failure = appErrorOf(error);
  // Those of ours were logged where they were thrown, with the request's id.
  if (!(error instanceof AppError)) logError(failure, null);
  const http = { status: problems[failure.code].status, headers: headersOf(failure) };
  return new GraphQLError(failure.detail, { extensions: { ...extensionsOf(failure), http } });
}

/** Gives the errors of requests that were not carried out a code and an HTTP status. */
export function useRequestErrors(): Plugin {
  return {
    onExecutionResult({ result }) {
      if (result === undefined || !("errors" in result) || "data" in result) return;
      for (const error of result.errors ?? []) asRefusal(error);
    },
  };
}

function asRefusal({ extensions }: GraphQLError): void {
  const { http, ...given } = extensions;
  const status = statusIn(http) ?? 400;
  Object.assign(extensions, {
    ...given,
    code:
      given["code"] === undefined || given["code"] === "BAD_REQUEST"
        ? codes[status]
        : given["code"],
    status: given["status"] ?? status,
    // `spec`: as GraphQL over HTTP has it, only the newer media type shows the status.
    http: http ?? { status, spec: true },
  });
}

/** Our words for what yoga itself refuses. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: "bad-request",
  405: "method-not-allowed",
};

function statusIn(http: unknown): number | null {
  const isObject = typeof http === "object" && http !== null && "status" in http;
  return isObject && typeof http.status === "number" ? http.status : null;
}
