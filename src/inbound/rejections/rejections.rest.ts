import { Elysia } from "elysia";

import { adminsOnly, type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";

import { explanationSchema } from "./explanation.ts";
import { rejectionFilters } from "./rejection-filters.ts";
import {
  explainedRejectionSchema,
  rejectionPageSchema,
  rejectionParams,
  triedSecretSchema,
} from "./rejection.schema.ts";
import { keptPerProvider, type Rejections } from "./rejections.ts";

/** The rejected requests, for operators. */
export const rejectionsRest = (rejections: Rejections, callers: Callers) => {
  const tag = "Rejected webhooks";
  const { route, list } = routes(callers, tag, operatorsOnly);
  const admin = routes(callers, tag, adminsOnly);
  return new Elysia({ name: "rejections" })
    .get(
      "/v1/rejections",
      ...list("listRejections", "List rejected deliveries", {
        description: `The last ${keptPerProvider} of each provider, newest first. All filters must match.`,
        ids: "rej_",
        filters: rejectionFilters,
        include: {
          words: ["cause"],
          description:
            "A list of these: `total` adds the number of rejections, `cause` the cause and the claimed type of each.",
          examples: ["cause"],
        },
        response: rejectionPageSchema,
        serve: ({ ctx, page, filters, included }) =>
          rejections.list(ctx, page, filters, { cause: included.includes("cause") }),
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
    )
    .post(
      "/v1/rejections/:id/try-secret",
      ...admin.route("trySecret", "Explain a rejected delivery with another secret", {
        description:
          "The cause is `verifies-now` if the stored request verifies with the secret. At most 20 per minute and caller, tests included.",
        params: rejectionParams,
        body: triedSecretSchema,
        response: explanationSchema,
        problems: [404],
        serve: ({ ctx, params, body }) => rejections.trySecret(ctx, params.id, body),
      }),
    );
};
