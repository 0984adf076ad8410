import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Acknowledgement, LoggedRequest } from "../model/webhook-request.ts";
import { interpret } from "../providers/interpret.ts";
import { type Registered, type Registry, requireRegistered } from "../providers/registry.ts";

import type { VerifiedBody } from "./new-event.ts";
import { storeEvents, type StoreParts } from "./store-events.ts";
import type { Tally } from "./tally.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";

interface RecoverParts extends StoreParts {
  readonly registry: Registry;
  readonly metrics: WebhookMetrics;
  readonly tally: Tally;
  readonly clock: Clock;
}

/**
 * Stores a request from the provider's log, unless it arrived. Null if the provider does not list its event,
 * or it cannot be parsed. Throws `unknown-provider`, `body-too-large`, or `unavailable`.
 */
export type Recover = (logged: LoggedRequest) => Promise<Acknowledgement | null>;

export function recoverer(parts: RecoverParts): Recover {
  const { registry, metrics, tally, clock } = parts;
  return async (logged) => {
    const registered = requireRegistered(registry, logged.providerId);
    const { provider } = registered;
    const [{ length }] = logged.bodies;
    if (length > provider.maxBodyBytes) {
      throw new AppError(
        "body-too-large",
        `The body is larger than ${provider.maxBodyBytes} bytes`,
      );
    }
    const verified = await vouchedFor(registered, logged, clock.now());
    const [interpreted = null] =
      interpret(provider, verified, (name) => logged.headers.get(name)) ?? [];
    if (interpreted?.status !== "accepted") return null;
    const acknowledgement = await storeEvents(parts, provider, logged, verified, [interpreted]);
    if (acknowledgement.status === "accepted") {
      metrics.received(provider.id, "recovered");
      tally.received(provider.id, "recovered");
    }
    return acknowledgement;
  };
}

/**
 * The bytes of a logged request: those that its signature covers, if the log has the signature and one of
 * the bodies matches, otherwise the first body. With the signed bytes it is stored as if it had arrived.
 */
async function vouchedFor(
  { verify }: Registered,
  { headers, bodies }: LoggedRequest,
  receivedAtMs: number,
): Promise<VerifiedBody> {
  for (const bytes of bodies) {
    const result = await verify?.({ method: "POST", url: "", headers, bytes, receivedAtMs });
    if (result === undefined || "rejection" in result) continue;
    return { ...result.verified, signedWith: null, receivedAtMs };
  }
  const [bytes] = bodies;
  return { bytes, signedBytes: bytes, signedContext: "", signedWith: null, receivedAtMs };
}
