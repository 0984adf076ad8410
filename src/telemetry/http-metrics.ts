import Gauge from "prom-client/lib/gauge.js";
import type Registry from "prom-client/lib/registry.js";

import { type Count, counterSeries, histogramSeries } from "./series.ts";

/** Counts the requests of one method and route. */
export interface RequestsOf {
  answered(status: number, seconds: number): void;
}

/** Requests by method, route pattern and class of status: a bounded number of series. */
export function httpMetrics(registry: Registry) {
  const requests = counterSeries(registry, {
    name: "skyhook_http_requests_total",
    help: "Answered HTTP requests but deliveries, by method, route pattern and class of status",
  });
  const durations = histogramSeries(
    registry,
    {
      name: "skyhook_http_request_duration_seconds",
      help: "Time from the head of a request to the head of its answer, by method and route pattern; without deliveries",
    },
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  const inFlight = new Gauge({
    name: "skyhook_http_requests_in_flight",
    help: "HTTP requests but deliveries whose answer has not begun",
    registers: [registry],
  });
  const byRoute = new Map<string, Map<string, RequestsOf>>();
  let underWay = 0;

  function make(method: string, route: string): RequestsOf {
    const duration = durations({ method, route });
    const byClass: (Count | undefined)[] = [];
    return {
      answered(status, seconds) {
        const digit = Math.floor(status / 100);
        (byClass[digit] ??= requests({ method, route, status: `${digit}xx` })).inc();
        duration.observe(seconds);
      },
    };
  }

  return {
    /** `method` and `route` must come from bounded sets. */
    requestsOf(method: string, route: string): RequestsOf {
      let byMethod = byRoute.get(route);
      if (byMethod === undefined) byRoute.set(route, (byMethod = new Map()));
      let found = byMethod.get(method);
      if (found === undefined) byMethod.set(method, (found = make(method, route)));
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
