import { Elysia } from "elysia";

import { readBytes } from "../../web/rest/body.ts";
import { clientAddress, type SocketAddresses } from "../../web/rest/client-address.ts";
import type { Exchange } from "../../web/rest/serve.ts";
import { problemReferences } from "../../web/rest/problem.schema.ts";
import { requestIdOf } from "../../web/rest/request-id.ts";
import { pathOf } from "../../web/rest/url.ts";

import { catalogue } from "../providers/catalogue.ts";
import type { Acknowledgement, Delivery } from "../delivery.ts";

interface Parts {
  readonly receive: (delivery: Delivery) => Promise<Acknowledgement>;
  readonly trustedProxyHops: number;
}

/** POST /webhooks/{provider}, for providers. */
export const webhooksRest = ({ receive, trustedProxyHops }: Parts) => {
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
    ...problemReferences(400, 401, 404, 413, 415, 429),
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
