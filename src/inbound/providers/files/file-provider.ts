import { joined, textAt } from "../../../base/payload.ts";
import type { Event } from "../../../event/event.ts";
import type { NewNotification } from "../../../event/new-notification.ts";
import {
  coversBodyPlaces,
  headerIn,
  readHeadersOf,
  signedPlaces,
} from "../../signatures/scheme.ts";
import type { Provider } from "../provider.ts";

import { describer, placesOf, storedSeverity } from "./describe.ts";
import { handshakesOf } from "./handshakes.ts";
import { paymentSource } from "./payment-source.ts";
import { readPlaces } from "./places.ts";
import type { ProviderFile } from "./provider-file.schema.ts";
import { samplesOf } from "./samples.ts";

const defaultMaxBodyBytes = 1024 * 1024;

/** The provider that a valid file describes. `path`: the file, for people. */
export function fileProvider(id: string, path: string, file: ProviderFile): Provider {
  const { displayName, signature, formField, secretPrefix, setUp, docs, checkedWith } = file;
  return {
    id,
    displayName,
    path,
    signature,
    payload: file.body ?? "json",
    deliveryIdIsSigned: isIdSigned(file),
    readHeaders: readHeaders(file),
    maxBodyBytes: file.maxBodyBytes ?? defaultMaxBodyBytes,
    handshakes: handshakesOf(file),
    interpret: describer(file),
    notify: [notification],
    samples: samplesOf(file),
    ...(file.payment !== undefined && { payments: paymentSource(file, file.payment) }),
    ...(formField !== undefined && { formField }),
    ...(secretPrefix !== undefined && { secretPrefix }),
    ...(setUp !== undefined && { setUp }),
    ...(docs !== undefined && { docs }),
    ...(checkedWith !== undefined && { checkedWith }),
  };
}

/** Whether the signature covers every place of the delivery id. Without an id, the hash of the body is the key. */
function isIdSigned({ signature, deliveryId }: ProviderFile): boolean {
  const signed = new Set(signedPlaces(signature));
  return placesOf(deliveryId).every(
    (place) => signed.has(place) || (headerIn(place) === null && coversBodyPlaces(signature)),
  );
}

/** Headers that events are made of: their values are stored, for replays. Never one that proves the origin. */
function readHeaders(file: ProviderFile): readonly string[] {
  const ofEvents = readPlaces(file).flatMap((place) => headerIn(place) ?? []);
  return [...new Set([...ofEvents, ...readHeadersOf(file.signature)])].toSorted();
}

function notification(event: Event): NewNotification {
  const { title, url, actor, subject, data } = event;
  const text = textAt(data, "text") ?? joined(" · ", actor && `by ${actor}`, subject);
  return { title, text, url, severity: storedSeverity(data) };
}
