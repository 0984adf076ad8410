import { Elysia } from "elysia";

import { readBytes } from "../../web/rest/body.ts";
import { clientAddress, type SocketAddresses } from "../../web/rest/client-address.ts";
import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { type Authenticated, bearer } from "../../web/rest/auth.ts";
import { type Exchange, servePage } from "../../web/rest/serve.ts";
import { failureReferences, failures } from "../../web/rest/problem.schema.ts";
import { textFilter } from "../../web/rest/query.ts";
import { requestIdOf } from "../../web/rest/request-id.ts";
import { pathOf } from "../../web/rest/url.ts";

import { catalogue } from "../providers/catalogue.ts";
import type { Acknowledgement, Delivery } from "../delivery.ts";
import { keptPerProvider, type Rejections } from "../diagnosis/rejections.ts";
import {
  explainedRejectionSchema,
  rejectionListQuery,
  rejectionPageSchema,
  rejectionParams,
} from "./webhook.schema.ts";

interface Parts {
  readonly receive: (delivery: Delivery) => Promise<Acknowledgement>;
  readonly rejections: Rejections;
  readonly authenticated: Authenticated;
  readonly trustedProxyHops: number;
}

/** POST /webhooks/{provider}, for providers; GET /v1/rejections, for operators. */
export const webhooksRest = ({ receive, rejections, authenticated, trustedProxyHops }: Parts) => {
  const deliver = ({ request, server, set }: DeliveryExchange) => {
    const address = clientAddress(request, server, trustedProxyHops);
    return receive({
      // As it was sent: an encoded letter is not the letter.
      providerId: pathOf(request.url).slice("/webhooks/".length),
      method: request.method,
      headers: request.headers,
      address,
      requestId: requestIdOf(set.headers),
      readBody: (maxBytes) => readBytes(request, maxBytes, address),
    });
  };
  return (
    new Elysia({ name: "webhooks" })
      // The signature is over the raw bytes: nothing may read the body before the chain does. Nor is
      // the answer checked against a schema: this is the path that has to be fast.
      .post("/webhooks/:provider", deliver, { parse: "none", detail: deliveryDetail })
      // The chain knows what to say to other methods: that the provider is unknown, for one.
      .all("/webhooks/:provider", deliver, { parse: "none", detail: { hide: true } })
      .get(
        "/v1/rejections",
        async (exchange) => {
          const ctx = await authenticated(exchange);
          return servePage(exchange, "rej_", (page, query) =>
            rejections.list(ctx, page, { provider: textFilter(query, "provider") }),
          );
        },
        {
          query: rejectionListQuery,
          response: {
            200: documentedHeaders(rejectionPageSchema, linkHeaders),
            ...failures(401, 403),
          },
          detail: {
            operationId: "listRejections",
            tags: ["Operators"],
            security: bearer,
            summary: "List refused deliveries",
            description: `The last ${keptPerProvider} of each provider. Needs the role operator or admin.`,
          },
        },
      )
      .get(
        "/v1/rejections/:id",
        async (exchange) => rejections.read(await authenticated(exchange), exchange.params.id),
        {
          params: rejectionParams,
          response: { 200: explainedRejectionSchema, ...failures(401, 403, 404) },
          detail: {
            operationId: "getRejection",
            tags: ["Operators"],
            security: bearer,
            summary: "Read a refused delivery, and why it was refused",
            description: "Needs the role operator or admin.",
          },
        },
      )
  );
};

interface DeliveryExchange extends Exchange {
  readonly server: SocketAddresses | null;
}

const deliveryDetail = {
  operationId: "receiveWebhook",
  tags: ["Webhooks"],
  summary: "Deliver a webhook",
  description:
    "For providers, which sign the exact bytes of the body. 200 means that the event is on disk.",
  parameters: [
    {
      name: "provider",
      in: "path" as const,
      required: true,
      description: "One that `GET /` lists.",
      schema: { type: "string" as const },
      example: "code_host",
    },
  ],
  requestBody: {
    required: true,
    description: `Whatever the provider sends, uncompressed; at most ${sizesAllowed()}.`,
    content: { "application/json": { schema: {} } },
  },
  responses: {
    200: {
      description: "The event is on disk, this time or since the first delivery.",
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/Acknowledgement" } },
      },
    },
    ...failureReferences(400, 401, 404, 413, 415, 429),
  },
};

/** How large a body may be, as `5 MiB, of code_host 25 MiB`. */
function sizesAllowed(): string {
  const usual = Math.min(...catalogue.map(({ maxBodyBytes }) => maxBodyBytes));
  const more = catalogue.filter(({ maxBodyBytes }) => maxBodyBytes > usual);
  const sizes = more.map(({ id, maxBodyBytes }) => `of ${id} ${mebibytes(maxBodyBytes)}`);
  return [mebibytes(usual), ...sizes].join(", ");
}

function mebibytes(bytes: number): string {
  return `${bytes / 2 ** 20} MiB`;
}
