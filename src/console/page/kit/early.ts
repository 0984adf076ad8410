/** Other sites cannot send this header, so the server knows that the console made the request. */
export const consoleHeaders = { "x-skyhook-console": "1" };

export const sessionPath = "v1/auth/session";

declare global {
  /** The responses to the requests of start.ts, by their paths. */
  var earlyResponses: Map<string, Promise<Response>> | undefined;
}

/** The page does not take so long to open: a response that is left over by then is out of date. */
const openingMs = 20_000;

/**
 * The response to a request that was sent before this script was loaded. Each is taken once, and none after a change: a
 * sign-in is one, and the session before it may have been another person's.
 */
export function takeEarly(path: string, method: string): Promise<Response> | undefined {
  if (method !== "GET" || performance.now() > openingMs) globalThis.earlyResponses?.clear();
  const response = globalThis.earlyResponses?.get(path);
  globalThis.earlyResponses?.delete(path);
  return response;
}
