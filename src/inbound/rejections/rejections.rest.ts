import { Elysia } from "elysia";

import { choice, textFilter, timeRange } from "../../base/parameters.ts";
import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";
import { rejectionReasons } from "../rejection-reasons.ts";

import {
  explainedRejectionSchema,
  rejectionListQuery,
  rejectionPageSchema,
  rejectionParams,
} from "./rejection.schema.ts";
import { keptPerProvider, type Rejections } from "./rejections.ts";

/** The rejected requests, for operators. */
export const rejectionsRest = (rejections: Rejections, callers: Callers) => {
  const { route, list } = routes(callers, "Operators", operatorsOnly);
  return new Elysia({ name: "rejections" })
    .get(
      "/v1/rejections",
      ...list("listRejections", "List rejected deliveries", {
        description: `The last ${keptPerProvider} of each provider, newest first. All filters must match.`,
        ids: "rej_",
        query: rejectionListQuery,
        response: rejectionPageSchema,
        serve: ({ ctx, page, query }) =>
          rejections.list(ctx, page, {
            ...timeRange(query),
            provider: textFilter(query, "provider"),
            reason: choice(query, "reason", rejectionReasons),
          }),
      }),
    )
    .get(
      "/v1/rejections/:id",
      ...route("getRejection", "Read a rejected delivery and why it was rejected", {
        params: rejectionParams,
        response: explainedRejectionSchema,
        problems: [404],
        serve: ({ ctx, params }) => rejections.read(ctx, params.id),
      }),
    );
};
