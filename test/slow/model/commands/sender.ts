import fc from "fast-check";

import { type Answer, answerOf } from "../../harness/requests.ts";
import { type ProviderId, providers } from "../../harness/signed-deliveries.ts";
import { blockedMs, type Model } from "../model.ts";
import { type Refusal, same, type Server } from "../server.ts";

/** Two addresses of one IPv6 network, which count as one client. */
const addresses = ["192.0.2.1", "192.0.2.2", "2001:db8:1:2::1", "2001:db8:1:2::2"] as const;
export const anyProvider = fc.constantFrom<ProviderId>(...providers);
export const anyAddress = fc.constantFrom(...addresses);

export const post = async (
  server: Server,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> =>
  answerOf(
    await server.send(path, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    }),
  );

/** The limiter's response to a blocked address. */
export function limited(model: Model, address: string, nowMs: number): Refusal | null {
  if (blockedMs(model, address, nowMs) === 0) return null;
  return { status: 429, code: "too-many-auth-failures" };
}

export function compareRetryAfter(
  model: Model,
  address: string,
  nowMs: number,
  answer: Answer,
): void {
  const seconds = Math.ceil(blockedMs(model, address, nowMs) / 1_000);
  same("Retry-After", answer.headers.get("retry-after"), String(seconds));
}
