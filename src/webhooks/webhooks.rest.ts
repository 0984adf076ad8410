import { Elysia } from "elysia";

import { readBytes } from "../http/body.ts";
import { clientAddress } from "../http/client-address.ts";
import { type Authenticated, servePage } from "../http/door.ts";
import { textFilter } from "../http/query.ts";
import { requestIdOf } from "../http/request-id.ts";

import type { Acknowledgement, Incoming } from "./receive.ts";
import type { Rejections } from "./rejections.ts";

interface Parts {
  readonly receive: (incoming: Incoming) => Promise<Acknowledgement>;
  readonly rejections: Rejections;
  readonly authenticated: Authenticated;
  readonly trustedProxyHops: number;
}

/** POST /webhooks/{provider}, for providers; GET /v1/rejections, for operators. */
export const webhooksRest = ({ receive, rejections, authenticated, trustedProxyHops }: Parts) =>
  new Elysia({ name: "webhooks" })
    .all(
      "/webhooks/:provider",
      ({ params, request, server, set }) =>
        receive({
          providerId: params.provider,
          method: request.method,
          headers: request.headers,
          address: clientAddress(request, server, trustedProxyHops),
          requestId: requestIdOf(set.headers),
          readBody: (maxBytes) => readBytes(request, maxBytes),
        }),
      // The signature is over the raw bytes: nothing may read the body before the chain does.
      { parse: "none" },
    )
    .get("/v1/rejections", async (exchange) => {
      const ctx = await authenticated(exchange);
      return servePage(exchange, "rej_", (page, query) =>
        rejections.list(ctx, page, { provider: textFilter(query, "provider") }),
      );
    });
