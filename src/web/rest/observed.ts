import type { AnyElysia } from "elysia";

import { runInSpan, type Span } from "../../telemetry/tracing/span.ts";
import { readTraceContext } from "../../telemetry/tracing/trace-context.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";

import type { HttpMetrics } from "./http-metrics.ts";
import { type Route, type RouteOf, routeFinder } from "./routes.ts";
import { pathOf } from "./url.ts";

interface Parts {
  readonly metrics: HttpMetrics;
  /** Null: tracing is off. */
  readonly tracer: Tracer | null;
  /** The routes there are; asked at the first request. */
  readonly routes: () => readonly Route[];
}

type Handle = (request: Request) => Response | Promise<Response>;

/** What Elysia's `wrap` takes. */
type HigherOrder = Parameters<AnyElysia["wrap"]>[0];

/** Methods beyond these count as one, so that nobody can make series of their own. */
const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Counts and times every request but deliveries, and puts each in a server span where tracing is on. Of
 * its address only the route's pattern is kept: paths and queries hold ids and what people look for.
 */
export function observed({ metrics, tracer, routes }: Parts) {
  let routeOf: RouteOf | null = null;

  function answer(handle: Handle, request: Request): Response | Promise<Response> {
    const path = pathOf(request.url);
    // Deliveries have counters and a histogram of their own, and are what has to be fast: to wait for
    // their answers here as well costs each a quarter more.
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

  const wrap = (handle: Handle) => (request: Request) => answer(handle, request);
  // Guarantee: Elysia passes the function that answers a request, and calls what it gets back with
  // the request alone; its types say no more than `Function`.
  return wrap as unknown as HigherOrder;
}

/** By OpenTelemetry's conventions for HTTP servers, without what could name a person. */
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
  // What a client did wrong is no error of the server's.
  span.end(status >= 500 ? { type: String(status), isServerError: true } : undefined);
}
