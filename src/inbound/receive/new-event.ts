import { ownTurns } from "../../base/own-turn.ts";
import { Place } from "../../db/place.ts";
import type { StoredEvent } from "../../event/event.ts";
import { queryHeader, signaturePosition, withoutSecrets } from "../../event/stored-headers.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import type { WebhookRequest } from "../model/webhook-request.ts";
import { interpretedFields } from "../providers/interpret.ts";
import { keptQuery } from "../providers/kept-query.ts";
import type { Interpreted, Notice, Provider } from "../providers/provider.ts";
import { publicSignatureHeaders, signatureHeaders } from "../signatures/scheme.ts";
import type { Verified } from "../signatures/signed-request.ts";

import { type EventIdentity, eventIdentity } from "./event-identity.ts";

/** A body whose signature verified, or that the provider's API vouched for: then `signedWith` is null. */
export interface VerifiedBody extends Pick<Verified, "bytes" | "signedBytes" | "signedContext"> {
  readonly signedWith: StoredEvent["signedWith"];
  readonly receivedAtMs: number;
}

/** What an event keeps of its request besides the body. A request from a provider's log has no URL. */
export type Origin = Pick<WebhookRequest, "headers" | "address"> &
  Partial<Pick<WebhookRequest, "url">>;

/** An event on its way into the database, with what its notifications need. */
export interface NewEvent extends StoredEvent {
  readonly notice: Notice | null;
}

/** An event, with the keys that it can be stored under. */
export interface Candidate {
  readonly event: NewEvent;
  readonly keys: EventIdentity["keys"];
}

/** Items that are handled without a pause for other requests. */
export const itemsPerTurn = 200;
const ownTurn = ownTurns();

/** The events of a request: one, or one for each item. `interpreted`: null for an unreadable body. */
export async function candidatesOf(
  provider: Provider,
  from: Origin,
  verified: VerifiedBody,
  interpreted: readonly Interpreted[] | null,
): Promise<readonly Candidate[]> {
  const common = commonFields(provider, from, verified);
  const candidates: Candidate[] = [];
  for (const one of interpreted ?? [null]) {
    if (candidates.length % itemsPerTurn === itemsPerTurn - 1) await ownTurn();
    const { keys, bodyHash } = eventIdentity(provider, one, verified);
    const item = one?.item ?? null;
    const event = {
      ...common,
      ...(one === null ? unreadable(common) : interpretedFields(one, common)),
      place: new Place(verified.receivedAtMs),
      idempotencyKey: keys[0],
      bodyHash,
      item,
      items: item === null ? null : (interpreted?.length ?? 1),
      notice: one?.notice ?? null,
    };
    candidates.push({ event, keys });
  }
  return candidates;
}

/** What all events of a request have of it. */
function commonFields(
  provider: Provider,
  { headers, address, url = "" }: Origin,
  { bytes, signedWith, receivedAtMs }: VerifiedBody,
) {
  const query = keptQuery(provider, url);
  return {
    provider: provider.id,
    createdAt: new Date(receivedAtMs),
    recovered: signedWith === null,
    headers: withTrace({
      ...withoutSecrets(headers, [
        ...(provider.readHeaders ?? []),
        ...publicSignatureHeaders(provider.signature),
      ]),
      ...(query !== null && { [queryHeader]: query }),
      ...signaturePosition(headers, signatureHeaders(provider.signature)),
    }),
    address,
    signedWith,
    bodyBytes: bytes.length,
    duplicates: 0,
    effect: null,
    body: bytes,
    bodyOf: null,
  };
}

function unreadable({ createdAt }: Pick<StoredEvent, "createdAt">) {
  return {
    type: "unreadable",
    status: "unreadable",
    occurredAt: createdAt,
    subject: null,
    title: "Unreadable: not a JSON object in UTF-8",
    url: null,
    actor: null,
    data: {},
  } as const;
}
