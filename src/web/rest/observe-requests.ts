import { runInSpan, type Span } from "../../telemetry/tracing/span.ts";
import { readTraceContext } from "../../telemetry/tracing/trace-context.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import { pathOf } from "../url.ts";

import { type Handle, wrapper } from "./hardening.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { type Route, routeFinder, type RouteOf } from "./routes.ts";

interface Parts {
  readonly metrics: HttpMetrics;
  /** Null if tracing is off. */
  readonly tracer: Tracer | null;
  /** Called on the first request. */
  readonly routes: () => readonly Route[];
}

/** All other methods share one label value, so that clients cannot create time series. */
const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Counts and times every request except webhooks, and wraps each request in a server span if
 * tracing is on. Records the route pattern only, because paths and queries contain ids and search terms.
 */
export function observeRequests({ metrics, tracer, routes }: Parts) {
  let routeOf: RouteOf | null = null;

  function answer(handle: Handle, request: Request): Response | Promise<Response> {
    const path = pathOf(request.url);
    // Webhooks have their own metrics and must be fast. Awaiting their responses here too would
    // make each one a quarter slower.
    const isCounted = !path.startsWith("/webhooks/");
    if (!isCounted && tracer === null) return handle(request);
    const startedMs = performance.now();
    const method = knownMethods.includes(request.method) ? request.method : "_OTHER";
    routeOf ??= routeFinder(routes());
    const route = routeOf(path);
    const span = tracer === null ? null : serverSpan(tracer, request, method, route);
    if (isCounted) metrics.began();

    const ended = (status: number) => {
      if (isCounted) {
        const seconds = (performance.now() - startedMs) / 1_000;
        metrics.answered(method, route ?? "none", status, seconds);
      }
      if (span !== null) endServerSpan(span, status);
    };
    const answered = (response: Response) => {
      ended(response.status);
      return response;
    };
    const failed = (error: unknown) => {
      ended(500);
      throw error;
    };
    try {
      const response = span === null ? handle(request) : runInSpan(span, () => handle(request));
      return response instanceof Promise ? response.then(answered, failed) : answered(response);
    } catch (error) {
      return failed(error);
    }
  }

  return wrapper((handle) => (request) => answer(handle, request));
}

/** Follows OpenTelemetry's conventions for HTTP servers, but omits attributes that may identify a person. */
function serverSpan(tracer: Tracer, request: Request, method: string, route: string | null): Span {
  const { headers } = request;
  return tracer.start(route === null ? method : `${method} ${route}`, {
    kind: "server",
    parent: readTraceContext(headers.get("traceparent"), headers.get("tracestate")),
    attributes: {
      "http.request.method": method,
      ...(route !== null && { "http.route": route }),
      "url.scheme": "http",
    },
  });
}

function endServerSpan(span: Span, status: number): void {
  span.set({ "http.response.status_code": status });
  // Client errors (4xx) are no errors of a server span.
  span.end(status >= 500 ? { type: String(status), isServerError: true } : undefined);
}
