import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import type { Callers } from "../web/rest/route.ts";

import { issuesRest } from "./issues/issues.rest.ts";
import type { IssueService } from "./issues/issues.ts";
import { destinationLatencyRest } from "./statistics/destination-latency.rest.ts";
import type { ReadLatency } from "./statistics/destination-latency.ts";
import { statisticsRest } from "./statistics/statistics.rest.ts";
import type { Statistics } from "./statistics/statistics.ts";

interface Parts {
  readonly issues: IssueService;
  readonly statistics: Statistics;
  readonly readLatency: ReadLatency;
  readonly clock: Clock;
}

export const operationRoutes = (parts: Parts, callers: Callers) =>
  new Elysia()
    .use(issuesRest(parts.issues, callers, parts.clock))
    .use(statisticsRest(parts.statistics, callers, parts.clock))
    .use(destinationLatencyRest(parts.readLatency, callers, parts.clock));
