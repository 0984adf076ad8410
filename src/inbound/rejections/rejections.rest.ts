import { Elysia } from "elysia";

import { choice, textFilter, timeRange } from "../../base/parameters.ts";
import { type Authenticated, operations, operatorsOnly } from "../../web/rest/auth.ts";
import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { servePage } from "../../web/rest/serve.ts";
import { rejectionReasons } from "../rejection-reasons.ts";

import {
  explainedRejectionSchema,
  rejectionListQuery,
  rejectionPageSchema,
  rejectionParams,
} from "./rejection.schema.ts";
import { keptPerProvider, type Rejections } from "./rejections.ts";

const operation = operations("Operators", operatorsOnly);

/** The rejected requests, for operators. */
export const rejectionsRest = (rejections: Rejections, authenticated: Authenticated) =>
  new Elysia({ name: "rejections" })
    .get(
      "/v1/rejections",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(exchange, "rej_", (page, query) =>
          rejections.list(ctx, page, {
            ...timeRange(query),
            provider: textFilter(query, "provider"),
            reason: choice(query, "reason", rejectionReasons),
          }),
        );
      },
      {
        query: rejectionListQuery,
        response: {
          200: documentedHeaders(rejectionPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: operation(
          "listRejections",
          "List rejected deliveries",
          `The last ${keptPerProvider} of each provider, newest first. All filters must match.`,
        ),
      },
    )
    .get(
      "/v1/rejections/:id",
      async (exchange) => rejections.read(await authenticated(exchange), exchange.params.id),
      {
        params: rejectionParams,
        response: { 200: explainedRejectionSchema, ...problemResponses(401, 403, 404) },
        detail: operation("getRejection", "Read a rejected delivery and why it was rejected"),
      },
    );
