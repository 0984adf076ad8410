import { Elysia } from "elysia";

import type { Exchange } from "../../web/auth.ts";
import { readBytes } from "../../web/body.ts";
import type { AddressOf, Connection } from "../../web/client-address.ts";
import { requestIdOf } from "../../web/request-id.ts";
import { problemReferences } from "../../web/rest/problem.schema.ts";
import { pathOf, targetOf } from "../../web/url.ts";
import { catalogue } from "../providers/catalogue.ts";
import type { HandshakeAnswer } from "../providers/handshake.ts";

import type { Receive } from "./receive.ts";

/** `POST /webhooks/{provider}`. */
export const webhooksRest = (receive: Receive, addressOf: AddressOf, publicUrl: string | null) => {
  // Names what it reads of its context: for a handler that takes all of it, Elysia copies the headers and parses the
  // query and the cookies of each request.
  const deliver = async ({ request, set, server }: Exchange & Connection) => {
    const address = addressOf({ request, server });
    // Match the raw path; do not percent-decode. Settings forms often have a URL with a slash at the end.
    const [providerId = "", ...rest] = pathOf(request.url)
      .slice("/webhooks/".length)
      .replace(/\/$/, "")
      .split("/");
    const result = await receive({
      providerId,
      isLonger: rest.length > 0,
      method: request.method,
      url: publicUrl === null ? request.url : publicUrl + targetOf(request.url),
      headers: request.headers,
      address,
      requestId: requestIdOf(set.headers),
      readBody: (maxBytes) => readBytes(request, maxBytes, address),
    });
    return "body" in result ? responseOf(result, set.headers) : result;
  };
  return (
    new Elysia({ name: "webhooks" })
      // The signature covers the raw bytes, so nothing may read the body before `receive`. The response
      // is not checked against a schema, to keep this path fast.
      .post("/webhooks/:provider", deliver, { parse: "none", detail: deliveryDetail })
      // `receive` handles other methods too, because an unknown provider takes precedence, and all other paths, to show
      // them to operators.
      .all("/webhooks/*", deliver, { parse: "none", detail: { hide: true } })
  );
};

/** The answer to a handshake, with the headers of every response. */
function responseOf(
  { status, headers, body }: HandshakeAnswer,
  common: Exchange["set"]["headers"],
): Response {
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(common)) all.set(name, String(value));
  return new Response(status === 204 ? null : body, { status, headers: all });
}

const deliveryDetail = {
  operationId: "receiveWebhook",
  tags: ["Webhooks"],
  summary: "Deliver a webhook",
  description:
    "Called by providers, which sign the exact bytes of the body. 200 means that the event is on disk.",
  parameters: [
    {
      name: "provider",
      in: "path" as const,
      required: true,
      description: "A provider that `GET /` lists.",
      schema: { type: "string" as const },
      example: "code_host",
    },
  ],
  requestBody: {
    required: true,
    description: `The provider's payload, uncompressed. At most ${sizesAllowed()}.`,
    content: { "application/json": { schema: {}, example: { action: "opened" } } },
  },
  responses: {
    200: {
      description: "The event is on disk, from this delivery or an earlier one.",
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/Acknowledgement" } },
      },
    },
    ...problemReferences(400, 401, 404, 413, 415, 429),
  },
};

/** The body size limits, such as `5 MiB (code_host: 25 MiB)`. */
function sizesAllowed(): string {
  const usual = Math.min(...catalogue.map(({ maxBodyBytes }) => maxBodyBytes));
  const more = catalogue.filter(({ maxBodyBytes }) => maxBodyBytes > usual);
  const sizes = more.map(({ id, maxBodyBytes }) => `${id}: ${mebibytes(maxBodyBytes)}`);
  return sizes.length === 0 ? mebibytes(usual) : `${mebibytes(usual)} (${sizes.join(", ")})`;
}

function mebibytes(bytes: number): string {
  return `${bytes / 2 ** 20} MiB`;
}
