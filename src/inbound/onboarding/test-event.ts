import { invalid } from "../../base/validation.ts";
import type { Acknowledgement } from "../model/webhook-request.ts";
import type { Provider } from "../providers/provider.ts";
import type { Registered } from "../providers/registry.ts";
import { signedSample } from "../providers/signed-sample.ts";
import type { Receive } from "../receive/receive.ts";
import { signingKeyWith } from "../signatures/development-secret.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { hasSharedSecret } from "../signatures/scheme.ts";
import type { Secrets } from "../signatures/signed-request.ts";

import type { ProviderSecrets } from "./provider-secrets.ts";

/** The caller who requests a test. */
export interface SendTest {
  /** The server's address as the caller knows it. */
  readonly origin: string;
  /** The caller's address. */
  readonly address: string;
}

interface Sending extends SendTest {
  /** The public base URL, which some services sign. */
  readonly base: string;
  readonly nowMs: number;
}

/**
 * Signs a sample and returns what sends it through the receiver, as a request of the service. Throws `validation-failed` if the sample is
 * unknown, or only the service can sign.
 */
export async function testEvent(
  receive: Receive,
  { provider, secrets: current, verify }: Registered,
  secrets: ProviderSecrets,
  event: string | undefined,
  { address, base, nowMs }: Sending,
): Promise<(requestId: string) => Promise<Acknowledgement>> {
  const { id, samples } = provider;
  const [first = ""] = Object.keys(samples);
  const name = event ?? first;
  const sample = Object.hasOwn(samples, name) ? samples[name] : undefined;
  if (sample === undefined) {
    const known = Object.keys(samples).join(", ");
    throw invalid("/event", `${id} has no sample "${name}". Samples: ${known}`);
  }
  if (current === null) throw invalid("", `${id} has no secret. Store one first.`);
  const key = signingKey(provider, current, secrets);
  if (key === null) throw onlyTheService(id);
  const fresh = { id: crypto.randomUUID(), now: new Date(nowMs) };
  const unsigned = `${base}/webhooks/${id}`;
  const signed = signedSample(provider, sample, key, fresh, { url: unsigned });
  const { headers: sent, bytes } = signed;
  const url = unsigned + signed.urlEnd;
  const headers = new Headers(sent);
  const request = { method: "POST", url, headers, bytes, receivedAtMs: nowMs };
  const verdict = await verify?.(request);
  // A test key whose public half was replaced by the service's.
  if (verdict === undefined || !("verified" in verdict)) throw onlyTheService(id);
  return async (requestId) => {
    const common = { providerId: id, method: "POST", url, headers, address, requestId };
    const request = { ...common, isTest: true, readBody: () => bytes };
    const result = await receive(request);
    const stored = "body" in result ? result.stored : result;
    if (stored !== undefined) return stored;
    throw invalid("/event", `The sample "${name}" is a handshake, no event`);
  };
}

/** Whether test events can be signed here. */
export function canSign(
  provider: Provider,
  current: Secrets | null,
  secrets: ProviderSecrets,
): boolean {
  if (current === null) return false;
  return hasSharedSecret(provider.signature) || secrets.privateKey(provider.id) !== null;
}

function signingKey(
  { id, signature }: Provider,
  { current: secret }: Secrets,
  secrets: ProviderSecrets,
): SigningKey | null {
  if (hasSharedSecret(signature)) return { secret };
  const privateKey = secrets.privateKey(id);
  return privateKey === null ? null : signingKeyWith({ secret, privateKey });
}

function onlyTheService(id: string) {
  return invalid(
    "",
    `Only the service can sign deliveries of ${id}. Send a test event from its own page.`,
  );
}
