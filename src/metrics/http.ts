import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import type Registry from "prom-client/lib/registry.js";

/** Counts the requests of one method and route. */
export interface RequestsOf {
  answered(status: number, seconds: number): void;
}

/** Requests by method, route pattern and class of status: a bounded number of series. */
export function httpMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: "skyhook_http_requests_total",
    help: "Answered HTTP requests by method, route pattern and class of status",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const seconds = new Histogram({
    name: "skyhook_http_request_duration_seconds",
    help: "Time from the head of a request to the head of its answer, by method and route pattern",
    labelNames: ["method", "route"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const inFlight = new Gauge({
    name: "skyhook_http_requests_in_flight",
    help: "HTTP requests whose answer has not begun",
    registers,
  });
  /** So that a request hashes no labels. */
  const known = new Map<string, Map<string, RequestsOf>>();

  function make(method: string, route: string): RequestsOf {
    const duration = seconds.labels({ method, route });
    const byClass: (Counter.Internal | undefined)[] = [];
    return {
      answered(status, elapsedSeconds) {
        const digit = Math.floor(status / 100);
        const counter = (byClass[digit] ??= requests.labels({
          method,
          route,
          status: `${digit}xx`,
        }));
        counter.inc();
        duration.observe(elapsedSeconds);
      },
    };
  }

  let underWay = 0;
  return {
    /** `method` and `route` must come from bounded sets. */
    requestsOf(method: string, route: string): RequestsOf {
      let methods = known.get(route);
      if (methods === undefined) known.set(route, (methods = new Map()));
      let found = methods.get(method);
      if (found === undefined) methods.set(method, (found = make(method, route)));
      return found;
    },
    requestBegan(): void {
      underWay += 1;
    },
    requestEnded(): void {
      underWay -= 1;
    },
    /** Brings gauges up to date, for a scrape. */
    refresh(): void {
      inFlight.set(underWay);
    },
  };
}
