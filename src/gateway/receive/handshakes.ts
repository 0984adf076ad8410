import { AppError, errorMessage } from "../../base/errors.ts";
import { plainFetch } from "../../base/plain-fetch.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Delivery } from "../delivery.ts";
import type { Handshake, HandshakeAnswer } from "../providers/handshake.ts";
import type { Provider } from "../providers/provider.ts";
import type { Registered } from "../providers/registry.ts";
import { sameText } from "../signatures/constant-time.ts";
import { hostMatches } from "../signatures/hosts.ts";
import { verifier } from "../signatures/signature.ts";
import type { PlaceSource } from "../signatures/place.ts";

/**
 * Stores the first secret of a provider, which the service sends itself. Returns the secret that the provider has afterwards: another
 * one if another process stored its own first.
 */
export type AdoptSecret = (providerId: string, secret: string) => string | null;

/** A request that is a handshake. */
export interface Greeting {
  readonly handshake: Handshake;
  readonly source: PlaceSource;
}

type RequestHead = Pick<Delivery, "method" | "url" | "headers">;

/** Whether a request without a body is a handshake. */
export function isHandshake(provider: Provider, request: RequestHead): boolean {
  const nothing = () => undefined;
  return (["signed", "unsigned"] as const).some(
    (kind) => handshakeOf(provider, request, nothing, kind) !== null,
  );
}

/**
 * The handshake that a request is, of those that the service signs or of those that it does not. `payload`: parses the body when it is
 * first called.
 */
export function handshakeOf(
  { handshakes = [] }: Provider,
  { method, url, headers }: RequestHead,
  payload: PlaceSource["payload"],
  kind: "signed" | "unsigned",
): Greeting | null {
  const candidates = handshakes.filter(
    (each) => each.method === method && each.isSigned === (kind === "signed"),
  );
  if (candidates.length === 0) return null;
  const source = { headers, url, payload };
  const handshake = candidates.find(({ matches }) => matches(source));
  return handshake === undefined ? null : { handshake, source };
}

interface AnswerParts {
  readonly adoptSecret: AdoptSecret;
  readonly log: Log;
}

/**
 * Answers a handshake. Null if it brings another secret than the provider has. Throws `bad-request` if it lacks a value that
 * must be echoed or has one that is not allowed, and `unavailable` if its URL cannot be fetched.
 */
export async function answerHandshake(
  { adoptSecret, log }: AnswerParts,
  { provider, secrets }: Registered,
  { handshake, source }: Greeting,
): Promise<HandshakeAnswer | null> {
  const sent = handshake.secretIn(source);
  if (sent !== null && secrets !== null && !sameText(sent, secrets.current)) return null;
  const answer = handshake.answer(source, secrets?.current ?? null);
  if (answer === null) {
    throw new AppError(
      "bad-request",
      "The handshake lacks a value that is echoed, or has one that is too long or not allowed",
    );
  }
  if (sent !== null && secrets === null && !adopt(adoptSecret, provider, sent, log)) return null;
  if (handshake.confirmUrl !== null) await confirm(handshake.confirmUrl(source));
  log.info({ provider: provider.id }, "webhook handshake answered");
  return answer;
}

/** What a secret may look like: long enough not to be guessed, and one line in a file. */
const adoptable = /^[\x21-\x7e]{16,512}$/;

/** False if the provider has another secret by now. */
function adopt(
  adoptSecret: AdoptSecret,
  { id, signature }: Provider,
  secret: string,
  log: Log,
): boolean {
  if (!adoptable.test(secret)) {
    const detail = "The handshake's secret must have 16 to 512 visible ASCII characters";
    throw new AppError("bad-request", detail);
  }
  try {
    // A stored secret that the scheme cannot use would prevent the next start.
    verifier(signature, { current: secret, previous: null });
  } catch (error) {
    const rule = errorMessage(error);
    throw new AppError("bad-request", `The handshake's secret ${rule}`);
  }
  let stored: string | null;
  try {
    stored = adoptSecret(id, secret);
  } catch (error) {
    const detail = "The secret could not be stored. Try again.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 10, cause: error });
  }
  if (stored === null || !sameText(stored, secret)) return false;
  log.warn(
    { provider: id },
    "webhook secret received in a handshake and stored: check that the service sent it",
  );
  return true;
}

const confirmTimeoutMs = 5_000;

/** Fetches a URL that proves to the service that the request arrived. Only https, only the pinned hosts, no redirects. */
async function confirm({
  url,
  hosts,
}: {
  readonly url: string | null;
  readonly hosts: readonly string[];
}): Promise<void> {
  const parsed = URL.parse(url ?? "");
  const isPinned =
    parsed?.protocol === "https:" &&
    parsed.port === "" &&
    parsed.username === "" &&
    hosts.some((pattern) => hostMatches(pattern, parsed.hostname));
  if (!isPinned) throw new AppError("bad-request", "The URL to confirm is not the service's");
  try {
    const signal = AbortSignal.timeout(confirmTimeoutMs);
    const response = await plainFetch(parsed, { redirect: "error", signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The response has the status ${response.status}`);
  } catch (error) {
    const detail = "The URL to confirm could not be fetched. Send the request again.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 10, cause: error });
  }
}
