import fc from "fast-check";

import { at } from "../../../support/graphql.ts";
import { delivery, signatureOf } from "../../harness/signed-deliveries.ts";
import { countFailure } from "../model.ts";
import { same, sameOutcome } from "../server.ts";

import { command } from "./command.ts";
import { anyAddress, anyProvider, compareRetryAfter, limited, post } from "./sender.ts";

/** Deliveries whose bytes or signature were modified in transit. */
export const forge = command(
  "Forge",
  fc.record({
    provider: anyProvider,
    change: fc.constantFrom<"body" | "signature" | "no signature">(
      "body",
      "signature",
      "no signature",
    ),
    address: anyAddress,
    times: fc.constantFrom(1, 2, 10, 21),
  }),
  async (args, model, server) => {
    const { provider, address, change } = args;
    const sent = delivery({ provider, kind: 0, number: 0 }, 0);
    const signature = signatureOf(provider, change === "signature" ? `${sent.body} ` : sent.body);
    const body = change === "body" ? sent.body.replace(/.$/, ',"admin":true}') : sent.body;
    const headers = {
      ...sent.headers,
      ...(change !== "no signature" && (change === "body" ? signature : otherSecret(signature))),
      "x-forwarded-for": address,
    };
    for (let time = 0; time < args.times; time += 1) {
      const nowMs = server.clock.now();
      const refusal = limited(model, address, nowMs) ?? { status: 401, code: "invalid-signature" };
      const answer = await post(server, `/webhooks/${provider}`, body, headers);
      sameOutcome(server, "forge", answer, refusal);
      if (refusal.status === 429) compareRetryAfter(model, address, nowMs, answer);
      else {
        countFailure(model, address, nowMs);
        model.refusals.push({ provider, atMs: nowMs });
      }
    }
  },
  ({ refusals }) => refusals.length < 150,
);

/** A well-formed signature of another secret. */
function otherSecret(signature: Readonly<Record<string, string>>): Record<string, string> {
  const swap = (value: string) =>
    value.replace(/[0-9a-f](?=[^=]*=?$)/, (digit) => (digit === "0" ? "1" : "0"));
  return Object.fromEntries(Object.entries(signature).map(([name, value]) => [name, swap(value)]));
}

/** A request that is not a delivery is rejected before the limiter, and does not count. Operators see a wrong path. */
export const misdeliver = command(
  "Misdeliver",
  fc.record({ what: fc.constantFrom<"unknown" | "GET">("unknown", "GET"), address: anyAddress }),
  async (args, model, server) => {
    const init = { headers: { "x-forwarded-for": args.address } };
    const isUnknown = args.what === "unknown";
    const response = isUnknown
      ? await server.send("/webhooks/nobody", { ...init, method: "POST", body: "{}" })
      : await server.send("/webhooks/code_host", init);
    const code = at(await response.json(), "code");
    const expected = isUnknown ? [404, "unknown-provider"] : [405, "method-not-allowed"];
    same("misdelivery", [response.status, code], expected);
    if (isUnknown) model.refusals.push({ provider: "unknown", atMs: server.clock.now() });
  },
);

/** A wrong client secret counts like a wrong signature. */
export const guessClient = command(
  "GuessClient",
  fc.record({ address: anyAddress, times: fc.constantFrom(1, 5, 21) }),
  async (args, model, server) => {
    const { address } = args;
    const asked = { grant_type: "client_credentials", client_id: "cl_1", client_secret: "guess" };
    for (let time = 0; time < args.times; time += 1) {
      const nowMs = server.clock.now();
      const blocked = limited(model, address, nowMs);
      const refusal = blocked ?? { status: 401, code: "authentication-required" };
      const headers = { "x-forwarded-for": address };
      const answer = await post(server, "/v1/auth/token", JSON.stringify(asked), headers);
      sameOutcome(server, "guess a client", answer, refusal);
      if (blocked === null) countFailure(model, address, nowMs);
      else compareRetryAfter(model, address, nowMs, answer);
    }
  },
);
