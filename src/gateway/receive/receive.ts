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
import { rescheduleDead } from "../notifications/notifications.sql.ts";
import { write } from "../../db/statement.ts";
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
 * Receives deliveries. An acknowledged delivery is on disk, exactly once. Throws, in the order of the
 * checks: `unknown-provider`, `method-not-allowed`, `too-many-auth-failures`, `unsupported-media-type`
 * (a content coding), `body-too-large`, `unavailable` (no secret is set), `invalid-signature` or, beyond
 * the quota, `too-many-auth-failures`; after storing an unreadable body, `invalid-body`. Throws
 * `unavailable` if the event cannot be stored. Providers retry after `unavailable`.
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

/** Sets the provider and the result as attributes of the request's span. */
function describe(provider: string, acknowledgement: Acknowledgement | null): void {
  activeSpan()?.set({ "skyhook.provider": provider });
  if (acknowledgement === null) return;
  const { id, status } = acknowledgement;
  activeSpan()?.set({ "cloudevents.event_id": id, "skyhook.webhook.status": status });
}

function findProvider(registry: Registry, id: string): Registered {
  const registered = registry.get(id);
  if (registered !== undefined) return registered;
  throw new AppError("unknown-provider", "No provider with this name is registered");
}

function requirePost({ method }: Delivery): void {
  if (method === "POST") return;
  throw new AppError("method-not-allowed", "Send webhooks with POST", { allow: ["POST"] });
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
    // Decompressing an unverified body would allow decompression bombs.
    await rejections.keep(id, "unsupported-encoding", delivery, null);
    const detail = "Content-Encoding is not supported. Send the body uncompressed.";
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
  { provider, verify, fingerprints }: Registered,
  delivery: Delivery,
  { bytes, receivedAtMs }: { readonly bytes: Uint8Array; readonly receivedAtMs: number },
): Promise<Verified> {
  const { headers, address, requestId } = delivery;
  if (verify === null) {
    const detail = "This provider has no secret, so its webhooks cannot be verified. Retry later.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 60 });
  }
  const result = verify({ headers, bytes, receivedAtMs });
  if ("verified" in result) {
    tally.matched(provider.id, fingerprints[result.verified.signedWith]);
    return result.verified;
  }
  // Counts before the first await, so that a burst cannot exceed the quota.
  const isWithinQuota = limiter.fail(address);
  const reason = reasonFor(provider, headers, result.rejection);
  log.warn({ provider: provider.id, reason, address, requestId }, "webhook rejected");
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
    title: normalised?.title ?? "Unreadable: not a JSON object in UTF-8",
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

/** Commits the event, or finds the event that it duplicates. */
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
  // Retention deleted the first event between the two statements. The provider's retry is stored.
  throw new AppError("unavailable", "Try again", { retryAfterSeconds: 1 });
}

/** Commits the event with its notifications in one transaction. Returns null if its key or body hash exists. */
async function storeNew(
  { storage, outbox, log }: ReceiveParts,
  provider: Provider,
  event: StoredEvent,
): Promise<Acknowledgement | null> {
  const notifications = outbox.writesFor(event, messagesOf(provider, event));
  const [inserted] = await storage.atomically(write(insertEvent, event, "stop"), ...notifications);
  if (inserted.changes === 0) return null;
  const { id, type, status, idempotencyKey } = event;
  log.info({ provider: provider.id, type, id, idempotencyKey }, `webhook ${status}`);
  if (notifications.length > 0) outbox.committed();
  return acknowledge(status, { id, idempotencyKey, type, status });
}

/** Counts the duplicate on the first event. Returns null if there is none: another body has the unsigned id. */
async function storeDuplicate(
  { storage, outbox, log }: ReceiveParts,
  { provider, idempotencyKey, bodyHash, createdAt }: StoredEvent,
): Promise<Acknowledgement | null> {
  const [first] = await storage.all(firstOfDelivery, { provider, idempotencyKey, bodyHash });
  if (first === undefined) return null;
  const [, rescheduled] = await storage.atomically(
    write(countDuplicate, { id: first.id }),
    write(rescheduleDead, { eventId: first.id, now: createdAt }),
  );
  if (rescheduled.changes > 0) outbox.committed();
  log.info({ provider, type: first.type, id: first.id, idempotencyKey }, "webhook duplicate");
  return acknowledge(first.status === "unreadable" ? "unreadable" : "duplicate", first);
}

function acknowledge(
  status: EventStatus | "duplicate",
  { id, idempotencyKey, type }: Pick<Event, "id" | "idempotencyKey" | "type" | "status">,
): Acknowledgement {
  if (status !== "unreadable") return { status, id, idempotencyKey, event: type };
  throw new AppError(
    "invalid-body",
    "The body is not a JSON object in UTF-8. It was stored for the operators.",
  );
}

function verdictOf(error: unknown): Verdict {
  if (!(error instanceof AppError) || isServerError(error)) return "unavailable";
  if (error.code === "invalid-body") return "unreadable";
  return error.code === "too-many-auth-failures" ? "limited" : "refused";
}
