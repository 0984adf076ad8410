import { AppError } from "../../base/errors.ts";
import { Place } from "../../db/place.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { EventStatus, StoredEvent } from "../../event/event.ts";
import { countDuplicate, insertEvent } from "../../event/events.sql.ts";
import { signaturePosition, withoutSecrets } from "../../event/stored-headers.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { Log } from "../../telemetry/log.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { inSpan, type Tracer } from "../../telemetry/tracing/tracer.ts";
import type { PaymentNotice } from "../payment-notice.ts";
import { notificationsOf } from "../providers/interpret.ts";
import type { Interpreted, Notice, Provider } from "../providers/provider.ts";
import { publicSignatureHeaders, signatureHeaders } from "../signatures/scheme.ts";
import type { Verified } from "../signatures/signed-request.ts";
import type { Acknowledgement, WebhookRequest } from "../webhook-request.ts";

import { decidedEffect, type Effect, type EffectOf } from "./effects.ts";
import { type EventIdentity, eventIdentity } from "./event-identity.ts";
import { type First, firstOf } from "./first-event.ts";

export interface StoreParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly effectOf: EffectOf;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  readonly log: Log;
}

/** A body whose signature verified, or that the provider's API vouched for: then `signedWith` is null. */
export interface VerifiedBody extends Pick<Verified, "bytes" | "signedBytes" | "signedContext"> {
  readonly signedWith: StoredEvent["signedWith"];
  readonly receivedAtMs: number;
}

/**
 * Commits the event of a request, or finds the event that it duplicates. Throws `invalid-body` for an
 * unreadable one, and `unavailable`.
 */
export function storeEvent(
  parts: StoreParts,
  provider: Provider,
  from: Pick<WebhookRequest, "headers" | "address">,
  verified: VerifiedBody,
  interpreted: Interpreted | null,
): Promise<Acknowledgement> {
  const identity = eventIdentity(provider, interpreted, verified);
  const event = eventOf(provider, from, verified, interpreted, identity);
  const payment = interpreted?.payment ?? null;
  const store = () => storeOnce(parts, provider, event, payment, identity.keys);
  return inSpan(parts.tracer, "webhook store", {}, () =>
    payment === null ? store() : inTurn(payment.booking ?? payment.payment ?? "", store),
  );
}

/** Events about one booking, of which only one can commit at a time, do not make each other decide again. */
const inTurn = turns();

/** An event on its way into the database, with what its notifications need. */
export interface NewEvent extends StoredEvent {
  readonly notice: Notice | null;
}

export function eventOf(
  provider: Provider,
  { headers, address }: Pick<WebhookRequest, "headers" | "address">,
  { bytes, signedWith, receivedAtMs }: VerifiedBody,
  interpreted: Interpreted | null,
  { keys: [idempotencyKey], bodyHash }: EventIdentity,
): NewEvent {
  const createdAt = new Date(receivedAtMs);
  return {
    place: new Place(receivedAtMs),
    provider: provider.id,
    type: interpreted?.type ?? "unreadable",
    status: interpreted?.status ?? "unreadable",
    idempotencyKey,
    occurredAt: interpreted?.occurredAt ?? createdAt,
    createdAt,
    subject: interpreted?.subject ?? null,
    title: interpreted?.title ?? "Unreadable: not a JSON object in UTF-8",
    url: interpreted?.url ?? null,
    actor: interpreted?.actor ?? null,
    data: interpreted?.data ?? {},
    recovered: signedWith === null,
    headers: withTrace({
      ...withoutSecrets(headers, [
        ...(provider.readHeaders ?? []),
        ...publicSignatureHeaders(provider.signature),
      ]),
      ...signaturePosition(headers, signatureHeaders(provider.signature)),
    }),
    address,
    signedWith,
    bodyBytes: bytes.length,
    bodyHash,
    duplicates: 0,
    effect: null,
    body: bytes,
    bodyOf: null,
    item: interpreted?.item ?? null,
    items: (interpreted?.item ?? null) === null ? null : 1,
    notice: interpreted?.notice ?? null,
  };
}

/** Stores the event under the first of `keys` that is free. */
async function storeOnce(
  parts: StoreParts,
  provider: Provider,
  event: NewEvent,
  payment: PaymentNotice | null,
  keys: EventIdentity["keys"],
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

/** Commits the event with its effect and its notifications in one transaction. Returns null if its key or body hash exists. */
async function storeNew(
  parts: StoreParts,
  provider: Provider,
  event: NewEvent,
  payment: PaymentNotice | null,
): Promise<Acknowledgement | null> {
  const { outbox, log, effectOf } = parts;
  const notifications = outbox.writesFor(event, notificationsOf(provider, event, event.notice), {
    whole: new Set(),
  });
  const put = (effect: Effect | null) => commit(parts, event, effect, notifications);
  const stored =
    payment === null
      ? (await put(null)) && { effect: null }
      : await decidedEffect(() => effectOf(payment), put);
  if (!stored) return null;
  const { effect } = stored;
  const { place, type, status, idempotencyKey, recovered } = event;
  const { id } = place;
  const what = recovered ? "recovered" : status;
  const fields = { provider: provider.id, type, id, idempotencyKey, ...effect?.logged };
  log.info(fields, `webhook ${what}`);
  outbox.committed(event);
  effect?.committed();
  return acknowledge(status, { id, idempotencyKey, type, status });
}

/** Returns false, and changes nothing, if the event's key or body hash exists. */
async function commit(
  { storage }: StoreParts,
  event: NewEvent,
  effect: Effect | null,
  notifications: readonly Write<never>[],
): Promise<boolean> {
  const stored = effect === null ? event : { ...event, effect: effect.explanation };
  const [inserted] = await storage.atomically(
    write(insertEvent, stored, "stop"),
    ...(effect === null ? [] : [() => effect.writes(event.place)]),
    ...notifications,
  );
  return inserted.changes > 0;
}

/** Counts the duplicate on the first event. Returns null if no event has this body: another body has the unsigned id. */
async function storeDuplicate(
  parts: StoreParts,
  provider: Provider,
  event: NewEvent,
): Promise<Acknowledgement | null> {
  const { storage, outbox, log } = parts;
  const { idempotencyKey } = event;
  const first = await firstOf(storage, provider, event);
  if (first === undefined) return null;
  // The log lists what arrived too. That is not another request.
  if (event.recovered) return acknowledge("duplicate", first);
  const [, rescheduled] = await storage.atomically(
    write(countDuplicate, { id: first.id }),
    ...(await outbox.rescheduleFor(first, "dead")),
  );
  if (rescheduled !== undefined && rescheduled.changes > 0) outbox.committed(first);
  log.info(
    { provider: provider.id, type: first.type, id: first.id, idempotencyKey },
    "webhook duplicate",
  );
  return acknowledge(first.status === "unreadable" ? "unreadable" : "duplicate", first);
}

export function acknowledge(status: EventStatus | "duplicate", first: First): Acknowledgement {
  const { id, idempotencyKey, type } = first;
  if (status !== "unreadable") return { status, id, idempotencyKey, event: type };
  throw new AppError(
    "invalid-body",
    "The body is not a JSON object in UTF-8. It was stored for the operators.",
  );
}

/** Runs works with the same key one after the other. A failed one does not keep the next from running. */
type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

function turns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    try {
      return await own;
    } finally {
      if (last.get(key) === own) last.delete(key);
    }
  };
}
