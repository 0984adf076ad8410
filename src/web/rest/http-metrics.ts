import type { Metrics } from "../../telemetry/metrics.ts";

/** Counts requests by method, route pattern and class of status. */
export type HttpMetrics = ReturnType<typeof httpMetrics>;

export function httpMetrics(metrics: Metrics) {
  const requests = metrics.counter({
    name: "skyhook_http_requests_total",
    help: "Answered HTTP requests but deliveries, by method, route pattern and class of status",
    labels: ["method", "route", "status"],
  });
  const durations = metrics.histogram({
    name: "skyhook_http_request_duration_seconds",
    help: "Time from the head of a request to the head of its answer, by method and route pattern; without deliveries",
    labels: ["method", "route"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const inFlight = metrics.gauge({
    name: "skyhook_http_requests_in_flight",
    help: "HTTP requests but deliveries whose answer has not begun",
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
