import type { Clock } from "../../base/clock.ts";
import { AppError, isServerError } from "../../base/errors.ts";
import type { Event, EventStatus, StoredEvent } from "../event.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Outbox } from "../notifications/outbox.ts";
import type { Verdict } from "../delivery-count.ts";
import type { Latency } from "../statistics/latency.ts";
import type { Tally } from "../statistics/tally.ts";
import { countDuplicate, firstOfDelivery, insertEvent } from "../events/events.sql.ts";
import { rearmDead } from "../notifications/notifications.sql.ts";
import { step } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { activeSpan } from "../../telemetry/tracing/span.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { inSpan, type Tracer } from "../../telemetry/tracing/tracer.ts";

import type { Acknowledgement, Delivery } from "../delivery.ts";
import { type DeliveryIdentity, deliveryIdentity } from "./delivery-key.ts";
import { interpret, messagesOf } from "../providers/interpret.ts";
import { type FailureLimiter, tooManyFailures, windowSeconds } from "../../identity/limiter.ts";
import type { Normalised, Provider } from "../providers/provider.ts";
import { reasonFor } from "../diagnosis/rejection-advice.ts";
import type { Rejections } from "../diagnosis/rejections.ts";
import type { Registered, Registry } from "../providers/registry.ts";
import type { Verified } from "../signatures/signature.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";
import { withoutSecrets } from "../stored-headers.ts";

export interface ReceiveParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly limiter: FailureLimiter;
  readonly outbox: Outbox;
  readonly rejections: Rejections;
  readonly metrics: WebhookMetrics;
  readonly tally: Tally;
  readonly latency: Latency;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  readonly log: Log;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/**
 * The chain that every delivery goes through. What it acknowledges is on disk, once. Throws, in this
 * order of checks: `unknown-provider`, `method-not-allowed`, `too-many-auth-failures`,
 * `unsupported-media-type` (a coding), `body-too-large`, `unavailable` (no secret is set),
 * `invalid-signature` or, where it was one too many, `too-many-auth-failures`, and, once it is on disk,
 * `invalid-body`; `unavailable` too when it cannot be stored. After `unavailable` the provider tries again.
 */
export function receiver(parts: ReceiveParts): (delivery: Delivery) => Promise<Acknowledgement> {
  const { registry, clock, metrics, tally, latency, tracer } = parts;

  async function receive(delivery: Delivery): Promise<Acknowledgement> {
    const receivedAtMs = clock.now();
    const registered = findProvider(registry, delivery.providerId);
    requirePost(delivery);
    requireFewFailures(parts, delivery);
    const bytes = await readDelivery(parts, registered.provider, delivery);
    const verified = await inSpan(tracer, "webhook verify", {}, () =>
      verifyDelivery(parts, registered, delivery, { bytes, receivedAtMs }),
    );
    const normalised = interpret(registered.provider, verified, (name) =>
      delivery.headers.get(name),
    );
    const identity = deliveryIdentity(registered.provider, normalised, verified);
    const event = eventOf(
      parts,
      registered.provider,
      delivery,
      verified,
      normalised,
      identity,
      receivedAtMs,
    );
    return inSpan(tracer, "webhook store", {}, () =>
      store(parts, registered.provider, event, identity),
    );
  }

  function count(provider: string, verdict: Verdict): void {
    metrics.received(provider, verdict);
    tally.received(provider, verdict);
  }

  return async (delivery) => {
    const startedMs = performance.now();
    const label = registry.get(delivery.providerId)?.provider.id ?? "unknown";
    try {
      const acknowledgement = await receive(delivery);
      const tookMs = performance.now() - startedMs;
      count(label, acknowledgement.status);
      if (tracer !== null) describe(label, acknowledgement);
      metrics.acknowledged(tookMs / 1_000);
      latency.observe(tookMs);
      return acknowledgement;
    } catch (error) {
      count(label, verdictOf(error));
      if (tracer !== null) describe(label, null);
      throw error;
    }
  };
}

/** Says on the request's span whose delivery it was, and what it became. */
function describe(provider: string, acknowledgement: Acknowledgement | null): void {
  activeSpan()?.set({ "skyhook.provider": provider });
  if (acknowledgement === null) return;
  const { id, status } = acknowledgement;
  activeSpan()?.set({ "cloudevents.event_id": id, "skyhook.webhook.status": status });
}

function findProvider(registry: Registry, id: string): Registered {
  const registered = registry.get(id);
  if (registered !== undefined) return registered;
  throw new AppError("unknown-provider", "No provider of this name is registered");
}

function requirePost({ method }: Delivery): void {
  if (method === "POST") return;
  throw new AppError("method-not-allowed", "Webhooks are sent by POST", { allow: ["POST"] });
}

function requireFewFailures({ limiter }: ReceiveParts, { address }: Delivery): void {
  const retryAfterSeconds = limiter.blockedSeconds(address);
  if (retryAfterSeconds !== null) throw tooManyFailures(retryAfterSeconds);
}

async function readDelivery(
  { rejections }: ReceiveParts,
  { id, maxBodyBytes }: Provider,
  delivery: Delivery,
): Promise<Uint8Array> {
  const coding = delivery.headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") {
    // Unpacking what is not yet verified would let anyone send a decompression bomb.
    await rejections.keep(id, "unsupported-encoding", delivery, null);
    const detail = "Send the body as it is, without Content-Encoding";
    throw new AppError("unsupported-media-type", detail, {
      accept: "application/json",
      acceptCoding: "identity",
    });
  }
  try {
    return await delivery.readBody(maxBodyBytes);
  } catch (error) {
    if (error instanceof AppError && error.code === "body-too-large") {
      await rejections.keep(id, "body-too-large", delivery, null);
    }
    throw error;
  }
}

async function verifyDelivery(
  { limiter, rejections, tally, log }: ReceiveParts,
  { provider, verify, marks }: Registered,
  delivery: Delivery,
  { bytes, receivedAtMs }: { readonly bytes: Uint8Array; readonly receivedAtMs: number },
): Promise<Verified> {
  const { headers, address, requestId } = delivery;
  if (verify === null) {
    const detail = "This provider has no secret yet, so nothing of it can be verified";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 60 });
  }
  const verdict = verify({ headers, bytes, receivedAtMs });
  if ("verified" in verdict) {
    tally.matched(provider.id, marks[verdict.verified.signedWith]);
    return verdict.verified;
  }
  // Counted before anything is awaited, so that a burst cannot slip through.
  const isWithinQuota = limiter.fail(address);
  const reason = reasonFor(provider, headers, verdict.fault);
  log.warn({ provider: provider.id, reason, address, requestId }, "webhook refused");
  if (!isWithinQuota) throw tooManyFailures(limiter.blockedSeconds(address) ?? windowSeconds);
  await rejections.keep(provider.id, reason, delivery, bytes);
  throw new AppError("invalid-signature", "The signature does not verify");
}

function eventOf(
  { makeId }: ReceiveParts,
  provider: Provider,
  delivery: Delivery,
  verified: Verified,
  normalised: Normalised | null,
  { keys: [idempotencyKey], bodyHash }: DeliveryIdentity,
  receivedAtMs: number,
): StoredEvent {
  const { bytes, signedWith } = verified;
  const createdAt = new Date(receivedAtMs);
  return {
    id: makeId("evt", receivedAtMs),
    provider: provider.id,
    type: normalised?.type ?? "unreadable",
    status: normalised?.status ?? "unreadable",
    idempotencyKey,
    occurredAt: normalised?.occurredAt ?? createdAt,
    createdAt,
    subject: normalised?.subject ?? null,
    title: normalised?.title ?? "Verified, but not a JSON object in UTF-8",
    url: normalised?.url ?? null,
    actor: normalised?.actor ?? null,
    data: normalised?.data ?? {},
    headers: withTrace(withoutSecrets(delivery.headers, provider.readHeaders)),
    address: delivery.address,
    signedWith,
    bodyBytes: bytes.length,
    bodyHash,
    duplicates: 0,
    body: bytes,
  };
}

/** Commits the event, or finds the first of the same delivery. */
async function store(
  parts: ReceiveParts,
  provider: Provider,
  event: StoredEvent,
  { keys }: DeliveryIdentity,
): Promise<Acknowledgement> {
  for (const idempotencyKey of keys) {
    const candidate = { ...event, idempotencyKey };
    const acknowledgement =
      (await storeNew(parts, provider, candidate)) ?? (await storeDuplicate(parts, candidate));
    if (acknowledgement !== null) return acknowledgement;
  }
  // Retention deleted the first between the two steps: the next try will be stored.
  throw new AppError("unavailable", "Try again", { retryAfterSeconds: 1 });
}

/** Commits the event with its reservations and notifications in one transaction; null when one is taken. */
async function storeNew(
  { storage, outbox, log }: ReceiveParts,
  provider: Provider,
  event: StoredEvent,
): Promise<Acknowledgement | null> {
  const notes = outbox.stepsFor(event, messagesOf(provider, event));
  const [inserted] = await storage.atomically(step(insertEvent, event, "stop"), ...notes);
  if (inserted.touched === 0) return null;
  const { id, type, status, idempotencyKey } = event;
  log.info({ provider: provider.id, type, id, idempotencyKey }, `webhook ${status}`);
  if (notes.length > 0) outbox.committed();
  return acknowledge(status, { id, idempotencyKey, type, status });
}

/** Counts the delivery with its first; null when there is none: another body has the unsigned id. */
async function storeDuplicate(
  { storage, outbox, log }: ReceiveParts,
  { provider, idempotencyKey, bodyHash, createdAt }: StoredEvent,
): Promise<Acknowledgement | null> {
  const [first] = await storage.all(firstOfDelivery, { provider, idempotencyKey, bodyHash });
  if (first === undefined) return null;
  const [, rearmed] = await storage.atomically(
    step(countDuplicate, { id: first.id }),
    step(rearmDead, { eventId: first.id, now: createdAt }),
  );
  if (rearmed.touched > 0) outbox.committed();
  log.info({ provider, type: first.type, id: first.id, idempotencyKey }, "webhook duplicate");
  return acknowledge(first.status === "unreadable" ? "unreadable" : "duplicate", first);
}

function acknowledge(
  status: EventStatus | "duplicate",
  { id, idempotencyKey, type }: Pick<Event, "id" | "idempotencyKey" | "type" | "status">,
): Acknowledgement {
  if (status !== "unreadable") return { status, id, idempotencyKey, event: type };
  throw new AppError("invalid-body", "The body is not a JSON object in UTF-8; it was kept");
}

function verdictOf(error: unknown): Verdict {
  if (!(error instanceof AppError) || isServerError(error)) return "unavailable";
  if (error.code === "invalid-body") return "unreadable";
  return error.code === "too-many-auth-failures" ? "limited" : "refused";
}
