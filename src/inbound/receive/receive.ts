import type { Clock } from "../../base/clock.ts";
import { AppError, isServerError } from "../../base/errors.ts";
import type { GuardedFetch } from "../../base/guarded-fetch.ts";
import type { MakeId } from "../../base/ids.ts";
import { lazy } from "../../base/lazy.ts";
import { ownTurns } from "../../base/own-turn.ts";
import type { Storage } from "../../db/storage.ts";
import { type FailureLimiter, requireUnblocked, tooManyFailures } from "../../identity/limiter.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { Log } from "../../telemetry/log.ts";
import { activeSpan } from "../../telemetry/tracing/span.ts";
import { inSpan, type Tracer } from "../../telemetry/tracing/tracer.ts";
import { requireUncompressed } from "../../web/body.ts";
import type { Verdict } from "../model/webhook-count.ts";
import type { Acknowledgement, WebhookRequest } from "../model/webhook-request.ts";
import type { HandshakeAnswer } from "../providers/handshake.ts";
import { interpret, payloadOf } from "../providers/interpret.ts";
import { requestReader } from "../providers/kept-query.ts";
import { isEcho } from "../providers/own-service.ts";
import type { Interpreted, Provider } from "../providers/provider.ts";
import { noProvider, type Registered, type Registry } from "../providers/registry.ts";
import { reasonFor } from "../rejections/rejection-advice.ts";
import type { Rejections } from "../rejections/rejections.ts";
import { payloadReader } from "../signatures/payload-reader.ts";
import { valuesAt } from "../signatures/pointed-values.ts";
import { pointersOf, readsPayload } from "../signatures/scheme.ts";
import type {
  SignatureRejection,
  SignedRequest,
  Verification,
  Verified,
} from "../signatures/signed-request.ts";

import type { EffectOf } from "./effects.ts";
import {
  type AdoptSecret,
  answerHandshake,
  handshakeOf,
  type HandshakeRequest,
  isHandshake,
} from "./handshakes.ts";
import type { Latency } from "./latency.ts";
import { storeEvents } from "./store-events.ts";
import type { Tally } from "./tally.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";

export interface ReceiveParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly limiter: FailureLimiter;
  readonly outbox: Outbox;
  readonly effectOf: EffectOf;
  readonly rejections: Rejections;
  readonly metrics: WebhookMetrics;
  readonly tally: Tally;
  readonly latency: Latency;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  readonly log: Log;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly adoptSecret: AdoptSecret;
  readonly fetchUrl: GuardedFetch;
}

/** One name for all unknown providers: strangers choose the paths, and must not create rows and metrics without limit. */
const unknownProvider = "unknown";

/** The response to a request or to a handshake. */
export type Receive = (request: WebhookRequest) => Promise<Acknowledgement | HandshakeAnswer>;

/**
 * Receives requests, and answers the handshakes by which services test the URL. An acknowledged request is on disk, exactly once. Throws, in the order of the
 * checks: `unknown-provider`, `method-not-allowed`, `too-many-auth-failures`, `unsupported-media-type`
 * (a content coding), `body-too-large`, `unavailable` (no secret is set), `invalid-signature` or, beyond
 * the quota, `too-many-auth-failures`; after storing an unreadable body, `invalid-body`. Throws
 * `unavailable` if the event cannot be stored. Providers retry after `unavailable`.
 */
export function receiver(parts: ReceiveParts): Receive {
  const { registry, clock, limiter, metrics, tally, latency, tracer } = parts;
  const ownTurn = ownTurns();

  async function receive(request: WebhookRequest): Promise<Acknowledgement | HandshakeAnswer> {
    const receivedAtMs = clock.now();
    const registered = registeredFor(registry, request);
    if (registered === undefined) {
      await parts.rejections.keep(unknownProvider, "unknown-provider", request, null);
      throw noProvider();
    }
    const { provider } = registered;
    requireMethod(provider, request);
    requireUnblocked(limiter, request.address);
    // Awaits only promises, here and below: an await costs more than a step that has its result at once.
    const reading = readRequest(parts, provider, request);
    const bytes = reading instanceof Promise ? await reading : reading;
    if (isSlowToRead(provider, bytes)) await ownTurn();
    // Again: others in a burst may have failed meanwhile.
    requireUnblocked(limiter, request.address);
    const payload = payloadReader(bytes);
    const greeting = bytes.length > maxHandshakeBytes ? () => undefined : payload;
    const unsigned = handshakeOf(provider, request, greeting, "unsigned");
    if (unsigned !== null) return greet(parts, registered, request, unsigned);
    const verifying = inSpan(tracer, "webhook verify", {}, () =>
      verifyRequest(parts, registered, request, {
        bytes,
        payload: bytes.length > quickBytes ? signedValues(provider, bytes) : payload,
        receivedAtMs,
      }),
    );
    const verified = verifying instanceof Promise ? await verifying : verifying;
    const signed = handshakeOf(provider, request, payload, "signed");
    if (signed !== null) return greet(parts, registered, request, signed);
    const header = requestReader(provider, request);
    let items: readonly Interpreted[] | null;
    try {
      items = interpret(provider, verified, header);
    } catch (error) {
      // Operators can see that there are too many items; the sender tries again.
      if (error instanceof AppError)
        await parts.rejections.keep(provider.id, "too-many-items", request, bytes);
      throw error;
    }
    if (items !== null) {
      const echo = isEcho(parts.storage, header);
      if (echo !== false && (await echo)) {
        items = items.map((item) => ({ ...item, status: "ignored" }));
      }
    }
    const body = { ...verified, receivedAtMs };
    const stored = await storeEvents(parts, provider, request, body, items);
    return answerTo(provider, request, { bytes, payload }, stored);
  }

  function count(provider: string, verdict: Verdict): void {
    metrics.received(provider, verdict);
    tally.received(provider, verdict);
  }

  return async (request) => {
    const startedMs = performance.now();
    const label = registeredFor(registry, request)?.provider.id ?? unknownProvider;
    try {
      const answer = await receive(request);
      const acknowledgement = "body" in answer ? answer.stored : answer;
      if (acknowledgement === undefined) {
        count(label, "handshake");
        return answer;
      }
      const tookMs = performance.now() - startedMs;
      count(label, acknowledgement.status);
      if (tracer !== null) describe(label, acknowledgement);
      metrics.acknowledged(tookMs / 1_000);
      latency.observe(tookMs);
      return answer;
    } catch (error) {
      count(label, verdictOf(error));
      if (tracer !== null) describe(label, null);
      throw error;
    }
  };
}

/** Only of a provider whose secret is in its URL, the path goes on. Without the secret, the request is rejected for that. */
function registeredFor(
  registry: Registry,
  { providerId, isLonger = false }: WebhookRequest,
): Registered | undefined {
  const found = registry.get(providerId);
  return isLonger && found?.provider.signature.kind !== "url" ? undefined : found;
}

/** Sets the provider and the result as attributes of the request's span. */
function describe(provider: string, acknowledgement: Acknowledgement | null): void {
  activeSpan()?.set({ "skyhook.provider": provider });
  if (acknowledgement === null) return;
  const { id, status } = acknowledgement;
  activeSpan()?.set({ "cloudevents.event_id": id, "skyhook.webhook.status": status });
}

/** Requests are POST. Handshakes can have other methods. */
function requireMethod(provider: Provider, request: WebhookRequest): void {
  if (request.method === "POST" || isHandshake(provider, request)) return;
  throw new AppError("method-not-allowed", "Send webhooks with POST", { allow: ["POST"] });
}

/** Answers a handshake. One that is rejected for its secret counts as a failure, as a wrong signature does. */
async function greet(
  parts: ReceiveParts,
  registered: Registered,
  request: WebhookRequest,
  greeting: HandshakeRequest,
): Promise<HandshakeAnswer> {
  const answer = await answerHandshake(parts, registered, greeting);
  if (!("rejectedBecause" in answer)) return answer;
  const { limiter, log } = parts;
  const { address, requestId } = request;
  const isWithinQuota = limiter.fail(address);
  log.warn(
    { provider: registered.provider.id, address, requestId },
    `webhook handshake rejected: ${answer.rejectedBecause}`,
  );
  if (!isWithinQuota) throw tooManyFailures(limiter, address);
  throw new AppError("invalid-signature", "The signature does not verify");
}

/** What the service wants to read in place of the acknowledgement. */
function answerTo(
  provider: Provider,
  request: WebhookRequest,
  { bytes, payload }: Pick<Required<SignedRequest>, "bytes" | "payload">,
  stored: Acknowledgement,
): Acknowledgement | HandshakeAnswer {
  if ((provider.handshakes?.length ?? 0) === 0) return stored;
  const read = () => payload() ?? payloadOf(provider, bytes);
  const asked = handshakeOf(provider, request, read, "stored");
  const answer = asked?.handshake.answer(asked.source, null) ?? null;
  return answer === null ? stored : { ...answer, stored };
}

/** Larger bodies can block the event loop for 100 ms when they are parsed. They are parsed only once they verify. */
const quickBytes = 64 * 1024;
const maxHandshakeBytes = quickBytes;

/** Whether the body is read before it is verified, and is large: anyone can send many of them at once. */
function isSlowToRead({ signature }: Provider, bytes: Uint8Array): boolean {
  return bytes.length > quickBytes && readsPayload(signature);
}

/** The values of the payload that verification reads, without the others. */
function signedValues({ signature }: Provider, bytes: Uint8Array): () => unknown {
  return lazy(() => valuesAt(bytes, pointersOf(signature)));
}

/** Stores the request as rejected if its body is compressed or too large. */
function readRequest(
  { rejections }: ReceiveParts,
  { id, maxBodyBytes }: Provider,
  request: WebhookRequest,
): Uint8Array | Promise<Uint8Array> {
  const failed = async (error: unknown): Promise<never> => {
    const code = error instanceof AppError ? error.code : null;
    const reason = code === "unsupported-media-type" ? "unsupported-encoding" : code;
    if (reason === "unsupported-encoding" || reason === "body-too-large") {
      await rejections.keep(id, reason, request, null);
    }
    throw error;
  };
  try {
    // Decompressing an unverified body would allow decompression bombs.
    requireUncompressed(request.headers);
    const reading = request.readBody(maxBodyBytes);
    return reading instanceof Promise ? reading.catch(failed) : reading;
  } catch (error) {
    return failed(error);
  }
}

/** A promise only if a key is fetched, a token is read or the request is rejected. */
function verifyRequest(
  { limiter, rejections, tally, log }: ReceiveParts,
  { provider, verify, fingerprints }: Registered,
  request: WebhookRequest,
  signed: Pick<Required<SignedRequest>, "bytes" | "payload" | "receivedAtMs">,
): Verified | Promise<Verified> {
  const { method, url, headers, address, requestId } = request;
  if (verify === null) {
    const detail = "This provider has no secret, so its webhooks cannot be verified. Retry later.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 60 });
  }
  const judge = (result: Verification): Verified | Promise<never> => {
    if ("rejection" in result) return reject(result.rejection);
    if (request.isTest !== true) {
      tally.matched(provider.id, fingerprints[result.verified.signedWith]);
    }
    return result.verified;
  };
  const reject = async (rejection: SignatureRejection): Promise<never> => {
    // Counts before the first await, so that a burst cannot exceed the quota.
    const isWithinQuota = limiter.fail(address);
    const reason = reasonFor(provider, headers, rejection);
    log.warn({ provider: provider.id, reason, address, requestId }, "webhook rejected");
    if (!isWithinQuota) throw tooManyFailures(limiter, address);
    await rejections.keep(provider.id, reason, request, signed.bytes);
    throw new AppError("invalid-signature", "The signature does not verify");
  };
  // A key that cannot be fetched: anyone can name any number of them.
  const failed = (error: unknown): never => {
    throw limiter.fail(address) ? error : tooManyFailures(limiter, address);
  };
  let verdict: ReturnType<typeof verify>;
  try {
    verdict = verify({ method, url, headers, ...signed });
  } catch (error) {
    return failed(error);
  }
  return verdict instanceof Promise ? verdict.then(judge, failed) : judge(verdict);
}

function verdictOf(error: unknown): Verdict {
  if (!(error instanceof AppError) || isServerError(error)) return "unavailable";
  if (error.code === "invalid-body") return "unreadable";
  return error.code === "too-many-auth-failures" ? "limited" : "rejected";
}
