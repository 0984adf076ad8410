import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { inSpan, type Tracer } from "../../telemetry/tracing/tracer.ts";
import type { Acknowledgement, Delivery } from "../delivery.ts";
import type { Event, EventStatus, StoredEvent } from "../event.ts";
import {
  countDuplicate,
  eventsByKeys,
  firstOfDelivery,
  insertEvent,
  receiptById,
  recoveredLike,
  storedLikeSince,
} from "../events/events.sql.ts";
import type { Outbox } from "../notifications/outbox.ts";
import { messagesOf, payloadOf } from "../providers/interpret.ts";
import type { PaymentNotice } from "../payment-notice.ts";
import type { Interpreted, Provider } from "../providers/provider.ts";
import type { Verified } from "../signatures/verification.ts";
import { withoutSecrets } from "../stored-headers.ts";
import { type DeliveryIdentity, deliveryIdentity } from "./delivery-key.ts";
import { changedMeanwhile, type Effect, type EffectOf } from "./effects.ts";
import { turns } from "./turns.ts";

export interface StoreParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly effectOf: EffectOf;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  readonly log: Log;
  readonly makeId: MakeId;
}

/** A body whose signature verified, or that the provider's API vouched for: then `signedWith` is null. */
export interface Trusted extends Pick<Verified, "bytes" | "signedBytes"> {
  readonly signedWith: StoredEvent["signedWith"];
  readonly receivedAtMs: number;
}

/**
 * Commits the event of a delivery, or finds the event that it duplicates. Throws `invalid-body` for an
 * unreadable one, and `unavailable`.
 */
export function storeDelivery(
  parts: StoreParts,
  provider: Provider,
  from: Pick<Delivery, "headers" | "address">,
  trusted: Trusted,
  normalised: Interpreted | null,
): Promise<Acknowledgement> {
  const identity = deliveryIdentity(provider, normalised, trusted);
  const event = eventOf(parts, provider, from, trusted, normalised, identity);
  const payment = normalised?.payment ?? null;
  const store = () => storeOnce(parts, provider, event, payment, identity.keys);
  return inSpan(parts.tracer, "webhook store", {}, () =>
    payment === null ? store() : inTurn(payment.booking ?? payment.payment ?? "", store),
  );
}

/** Events about one booking, of which only one can commit at a time, do not make each other decide again. */
const inTurn = turns();

function eventOf(
  { makeId }: StoreParts,
  provider: Provider,
  { headers, address }: Pick<Delivery, "headers" | "address">,
  { bytes, signedWith, receivedAtMs }: Trusted,
  normalised: Interpreted | null,
  { keys: [idempotencyKey], bodyHash }: DeliveryIdentity,
): StoredEvent {
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
    recovered: signedWith === null,
    headers: withTrace(withoutSecrets(headers, provider.readHeaders)),
    address,
    signedWith,
    bodyBytes: bytes.length,
    bodyHash,
    duplicates: 0,
    effect: null,
    body: bytes,
  };
}

/** The stored event that a delivery duplicates. */
type First = Pick<Event, "id" | "idempotencyKey" | "type" | "status">;

/** Stores the event under the first of `keys` that is free. */
async function storeOnce(
  parts: StoreParts,
  provider: Provider,
  event: StoredEvent,
  payment: PaymentNotice | null,
  keys: DeliveryIdentity["keys"],
): Promise<Acknowledgement> {
  for (const idempotencyKey of keys) {
    const candidate = { ...event, idempotencyKey };
    const acknowledgement =
      (await storeNew(parts, provider, candidate, payment)) ??
      (await storeDuplicate(parts, provider, candidate));
    if (acknowledgement !== null) return acknowledgement;
  }
  // Retention deleted the first event between the two statements. The provider's retry is stored.
  throw new AppError("unavailable", "Try again", { retryAfterSeconds: 1 });
}

/** Effects that other instances, expiry or callers change before their commit are decided again, up to this many times. */
const maxAttempts = 20;

/** Commits the event with its effect and its notifications in one transaction. Returns null if its key or body hash exists. */
async function storeNew(
  parts: StoreParts,
  provider: Provider,
  event: StoredEvent,
  payment: PaymentNotice | null,
): Promise<Acknowledgement | null> {
  const { outbox, log, effectOf } = parts;
  const notifications = outbox.writesFor(event, messagesOf(provider, event));
  for (let attempt = 1; ; attempt += 1) {
    const effect = payment === null ? null : await effectOf(event, payment);
    try {
      if (!(await commit(parts, event, effect, notifications))) return null;
    } catch (error) {
      if (error === changedMeanwhile && attempt < maxAttempts) continue;
      throw error;
    }
    const { id, type, status, idempotencyKey, recovered } = event;
    const what = recovered ? "recovered" : status;
    const fields = { provider: provider.id, type, id, idempotencyKey, ...effect?.logged };
    log.info(fields, `webhook ${what}`);
    outbox.committed(event);
    effect?.committed();
    return acknowledge(status, { id, idempotencyKey, type, status });
  }
}

/** Returns false, and changes nothing, if the event's key or body hash exists. */
async function commit(
  { storage }: StoreParts,
  event: StoredEvent,
  effect: Effect | null,
  notifications: readonly Write<never>[],
): Promise<boolean> {
  const stored = effect === null ? event : { ...event, effect: effect.explanation };
  const [inserted] = await storage.atomically(
    write(insertEvent, stored, "stop"),
    ...(effect?.writes ?? []),
    ...notifications,
  );
  return inserted.changes > 0;
}

/** Counts the duplicate on the first event. Returns null if no event has this body: another body has the unsigned id. */
async function storeDuplicate(
  parts: StoreParts,
  provider: Provider,
  event: StoredEvent,
): Promise<Acknowledgement | null> {
  const { storage, outbox, log } = parts;
  const { idempotencyKey, bodyHash } = event;
  const [same] = await storage.all(firstOfDelivery, {
    provider: provider.id,
    idempotencyKey,
    bodyHash,
  });
  const first = same ?? (await firstOfPayload(parts, provider, event));
  if (first === undefined) return null;
  // The log lists what arrived too. That is not another delivery.
  if (event.recovered) return acknowledge("duplicate", first);
  const [, rescheduled] = await storage.atomically(
    write(countDuplicate, { id: first.id }),
    ...outbox.rescheduleFor(first, "dead"),
  );
  if (rescheduled !== undefined && rescheduled.changes > 0) outbox.committed();
  log.info(
    { provider: provider.id, type: first.type, id: first.id, idempotencyKey },
    "webhook duplicate",
  );
  return acknowledge(first.status === "unreadable" ? "unreadable" : "duplicate", first);
}

/** Maximum events to compare. More than two only if unsigned ids were forged. */
const maxCompared = 20;
/** How far the clocks of the provider and of this machine may differ. */
const clockSkewMs = 3_600_000;

/**
 * The event with the same payload in other bytes. That happens only if one of the two was recovered: a log
 * may not keep the exact bytes. Called only if the delivery's id is taken. Usually the same payload has it;
 * if the id was forged, the payload is under another key.
 */
async function firstOfPayload(
  { storage }: StoreParts,
  provider: Provider,
  event: StoredEvent,
): Promise<Event | undefined> {
  // A signed id is enough.
  if (event.bodyHash === null) return undefined;
  const { idempotencyKey, type, subject, occurredAt } = event;
  const like = { provider: provider.id, type, subject, limit: maxCompared };
  const holders = await storage.all(eventsByKeys, { keys: [idempotencyKey] });
  const others = event.recovered
    ? await storage.all(storedLikeSince, {
        ...like,
        since: new Date(occurredAt.getTime() - clockSkewMs),
      })
    : await storage.all(recoveredLike, like);
  for (const candidate of [...holders, ...others]) {
    if (!candidate.recovered && !event.recovered) continue;
    const [receipt] = await storage.all(receiptById, { id: candidate.id });
    const isSame = receipt?.body
      ? hasSamePayload(provider, receipt.body, event)
      : // Retention deleted the body, from which these fields were read.
        candidate.type === type &&
        candidate.subject === subject &&
        candidate.occurredAt.getTime() === occurredAt.getTime();
    if (isSame) return candidate;
  }
  return undefined;
}

function hasSamePayload(provider: Provider, body: Uint8Array, { body: own }: StoredEvent): boolean {
  if (own === null) return false;
  const [one, other] = [payloadOf(provider, body), payloadOf(provider, own)];
  try {
    return one !== null && Bun.deepEquals(one, other, true);
  } catch {
    // Too deep to compare.
    return false;
  }
}

function acknowledge(status: EventStatus | "duplicate", first: First): Acknowledgement {
  const { id, idempotencyKey, type } = first;
  if (status !== "unreadable") return { status, id, idempotencyKey, event: type };
  throw new AppError(
    "invalid-body",
    "The body is not a JSON object in UTF-8. It was stored for the operators.",
  );
}
