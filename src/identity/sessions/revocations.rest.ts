import { Elysia } from "elysia";

import { requestIdOf } from "../../web/request-id.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { adminsOnly, type Callers, routes } from "../../web/rest/route.ts";
import { badFields, clientIn, countingFailures, readFields } from "../auth/auth.rest.ts";
import type { Clients } from "../auth/clients.ts";
import type { FailureLimiter } from "../limiter.ts";

import {
  revocationInputSchema,
  revocationSchema,
  revokedSchema,
  revokeRequestSchema,
} from "./revocation.schema.ts";
import type { Revocations } from "./revocations.ts";

interface Parts {
  readonly revocations: Revocations;
  readonly clients: Clients;
  readonly limiter: FailureLimiter;
  readonly callers: Callers;
}

/** Revocation of a token (RFC 7009), and of all access of a subject. */
export const revocationsRest = ({ revocations, clients, limiter, callers }: Parts) => {
  const { route } = routes(callers, "Audit and sessions", adminsOnly);
  return new Elysia({ name: "revocations" })
    .post(
      "/v1/auth/revoke",
      async (exchange): Promise<Record<never, never>> => {
        const { request, set } = exchange;
        set.headers["cache-control"] = "no-store";
        const address = callers.addressOf(exchange);
        return countingFailures(limiter, address, async () => {
          const fields = await readFields(request, address);
          const sent = clientIn(request, fields);
          const client = sent && (await clients.authenticate(sent.id, sent.secret)).id;
          const token = fields.get("token");
          if (token === undefined)
            throw badFields("token is required", ["token"], "invalid_request");
          await revocations.token(token, requestIdOf(set.headers), client ?? undefined);
          return {};
        });
      },
      {
        parse: "none",
        body: revokeRequestSchema,
        response: { 200: revokedSchema, ...problemResponses(401, 413, 415, 429) },
        detail: {
          operationId: "revokeToken",
          tags: ["Authentication"],
          security: [{}, { client: [] }],
          summary: "Revoke a token",
          description:
            "The holder of a token may revoke it. A client that sends its credentials revokes only its own tokens. An invalid token gets 200 too, without effect (RFC 7009). Other instances follow within 5 seconds.",
        },
      },
    )
    .post(
      "/v1/revocations",
      ...route("endAccess", "End all access of a user or client", {
        description:
          "Refuses every token that was issued until now, and ends sessions, tokens of agents and API keys. Tokens from later work: remove the role or the client too.",
        body: revocationInputSchema,
        response: revocationSchema,
        serve: ({ ctx, body }) => revocations.subject(ctx, body),
      }),
    );
};
