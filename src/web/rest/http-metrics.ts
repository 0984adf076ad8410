import type { Metrics } from "../../telemetry/metrics.ts";

/** Counts and times HTTP requests other than webhooks, which have their own metrics. */
export type HttpMetrics = ReturnType<typeof httpMetrics>;

export function httpMetrics(metrics: Metrics) {
  const requests = metrics.counter({
    name: "skyhook_http_requests_total",
    help: "HTTP responses by method, route pattern and status class, without webhook deliveries",
    labels: ["method", "route", "status"],
  });
  const durations = metrics.histogram({
    name: "skyhook_http_request_duration_seconds",
    help: "Time from request headers to response headers by method and route pattern, without webhook deliveries",
    labels: ["method", "route"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const inFlight = metrics.gauge({
    name: "skyhook_http_requests_in_flight",
    help: "HTTP requests without a response yet, without webhook deliveries",
  });

  return {
    began(): void {
      inFlight.inc();
    },
    /** `method` and `route` must come from bounded sets. */
    answered(method: string, route: string, status: number, seconds: number): void {
      inFlight.dec();
      requests.inc({ method, route, status: `${Math.floor(status / 100)}xx` });
      durations.observe({ method, route }, seconds);
    },
  };
}
