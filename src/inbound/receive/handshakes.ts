import { sameText } from "../../base/crypto.ts";
import { AppError, errorMessage } from "../../base/errors.ts";
import type { GuardedFetch } from "../../base/guarded-fetch.ts";
import type { PlaceSource } from "../../base/place.ts";
import type { Log } from "../../telemetry/log.ts";
import type { WebhookRequest } from "../model/webhook-request.ts";
import type { ConfirmUrl, Handshake, HandshakeAnswer } from "../providers/handshake.ts";
import type { Provider } from "../providers/provider.ts";
import type { Registered } from "../providers/registry.ts";
import { type Weakness, weaknessOf } from "../providers/weak-secret.ts";
import { hostMatches } from "../signatures/hosts.ts";
import { verifier } from "../signatures/signature.ts";
import { leastSecretLength } from "../signatures/weak-secret.ts";

/**
 * Stores the first secret of a provider, which the service sends itself. Returns the secret that the provider has afterwards: another
 * one if another process stored its own first.
 */
export type AdoptSecret = (providerId: string, secret: string) => string | null;

/** A request that is a handshake. */
export interface HandshakeRequest {
  readonly handshake: Handshake;
  readonly source: PlaceSource;
}

type RequestHead = Pick<WebhookRequest, "method" | "url" | "headers">;

/** Whether a request without a body is a handshake. */
export function isHandshake(provider: Provider, request: RequestHead): boolean {
  const nothing = () => undefined;
  return (["signed", "unsigned"] as const).some(
    (kind) => handshakeOf(provider, request, nothing, kind) !== null,
  );
}

/**
 * The handshake that a request is, of those of a kind. `payload`: parses the body when it is first called.
 */
export function handshakeOf(
  { handshakes = [] }: Provider,
  { method, url, headers }: RequestHead,
  payload: PlaceSource["payload"],
  kind: Handshake["kind"],
): HandshakeRequest | null {
  if (handshakes.length === 0) return null;
  const candidates = handshakes.filter(
    (each) =>
      (each.method === method || (method === "HEAD" && each.method === "GET")) &&
      each.kind === kind,
  );
  if (candidates.length === 0) return null;
  const source = { headers, url, payload };
  const handshake = candidates.find(({ matches }) => matches(source));
  return handshake === undefined ? null : { handshake, source };
}

/** A handshake that is not answered. */
export interface RejectedHandshake {
  /** For the log only: whoever sent it must not learn which secrets are in use. */
  readonly rejectedBecause: string;
}

interface AnswerParts {
  readonly registry: Iterable<Registered>;
  readonly adoptSecret: AdoptSecret;
  /** Fetches the URLs that confirm subscriptions. */
  readonly fetchUrl: GuardedFetch;
  readonly log: Log;
}

/**
 * Answers a handshake, unless it brings another secret than the provider has, or one that others can guess or know.
 * Throws `bad-request` if it lacks a value that must be echoed or has one that is not allowed, and `unavailable` if its
 * URL cannot be fetched.
 */
export async function answerHandshake(
  parts: AnswerParts,
  { provider, secrets }: Registered,
  { handshake, source }: HandshakeRequest,
): Promise<HandshakeAnswer | RejectedHandshake> {
  if (handshake.signsChallenge) {
    if (secrets === null) throw new AppError("unavailable", "This provider has no secret");
    // The answers would let anyone try guesses, or be signatures of the other provider.
    const weakness = weaknessOf(secrets.current, provider, parts.registry);
    if (weakness !== null) return { rejectedBecause: `its secret ${shown(weakness)}` };
  }
  const sent = handshake.secretIn(source);
  if (sent !== null && secrets !== null && !sameText(sent, secrets.current)) return anotherSecret;
  const answer = handshake.answer(source, secrets?.current ?? null);
  if (answer === null) {
    throw new AppError(
      "bad-request",
      "The handshake lacks a value that is echoed, or has one that is too long or not allowed",
    );
  }
  const rejection = sent === null || secrets !== null ? null : adopt(parts, provider, sent);
  if (rejection !== null) return rejection;
  if (handshake.confirmUrl !== null) await confirm(parts.fetchUrl, handshake.confirmUrl(source));
  parts.log.info({ provider: provider.id }, "webhook handshake answered");
  return answer;
}

const anotherSecret: RejectedHandshake = {
  rejectedBecause: "it brings another secret; remove the present one to accept it",
};

/** What a secret may look like: one line in a file. */
const adoptable = /^[\x21-\x7e]{1,512}$/;

/** Stores a secret that only the service can know. */
function adopt(
  { adoptSecret, registry, log }: AnswerParts,
  provider: Provider,
  secret: string,
): RejectedHandshake | null {
  const { id, signature } = provider;
  if (!adoptable.test(secret)) {
    const detail = "The handshake's secret must have at most 512 visible ASCII characters";
    throw new AppError("bad-request", detail);
  }
  try {
    // A stored secret that the scheme cannot use would prevent the next start.
    verifier(signature, { current: secret, previous: null });
  } catch (error) {
    const rule = errorMessage(error);
    throw new AppError("bad-request", `The handshake's secret ${rule}`);
  }
  const weakness = weaknessOf(secret, provider, registry);
  if (weakness !== null) return { rejectedBecause: `its secret ${shown(weakness)}` };
  let stored: string | null;
  try {
    stored = adoptSecret(id, secret);
  } catch (error) {
    const detail = "The secret could not be stored. Try again.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 10, cause: error });
  }
  // Another process stored its own first.
  if (stored === null || !sameText(stored, secret)) return anotherSecret;
  log.warn(
    { provider: id },
    "webhook secret received in a handshake and stored: check that the service sent it",
  );
  return null;
}

function shown(weakness: Weakness): string {
  switch (weakness.reason) {
    case "short":
      return `has fewer than ${leastSecretLength} characters`;
    case "documented":
      return "is an example from documentation";
    case "shared":
      return `is that of ${weakness.owner.id}`;
  }
}

/** Fetches a URL that proves to the service that the request arrived. Only https, only the pinned hosts, no redirects. */
async function confirm(fetchUrl: GuardedFetch, { url, hosts }: ConfirmUrl): Promise<void> {
  const parsed = URL.parse(url ?? "");
  const isPinned =
    parsed?.protocol === "https:" &&
    parsed.port === "" &&
    parsed.username === "" &&
    hosts.some((pattern) => hostMatches(pattern, parsed.hostname));
  if (!isPinned) throw new AppError("bad-request", "The URL to confirm is not the service's");
  try {
    const { ok, status } = await fetchUrl(parsed);
    if (!ok) throw new Error(`The response has the status ${status}`);
  } catch (error) {
    const detail = "The URL to confirm could not be fetched. Send the request again.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 10, cause: error });
  }
}
