import { asPayload, joined } from "../../../base/payload.ts";
import { oneOrMore } from "../../../base/place.ts";
import type { DataFields } from "../../../event/data-fields.ts";
import type { EventContent } from "../../../event/event.ts";
import type { NewNotification } from "../../../event/new-notification.ts";
import { text } from "../../../web/schema.ts";
import type { PaymentPlaces, PaymentSource } from "../../model/payment-notice.ts";
import { coversPlace, headerIn, readHeadersOf, timePlacesOf } from "../../signatures/scheme.ts";
import { typeName } from "../event-fields.ts";
import { isOpaque } from "../interpret.ts";
import type { Fresh, Notice, Provider, Sample } from "../provider.ts";

import { describer } from "./describe.ts";
import { handshakesOf } from "./handshakes.ts";
import { itemFinder } from "./items.ts";
import { readPlaces } from "./places.ts";
import type { ProviderFile } from "./provider-file.schema.ts";

const defaultMaxBodyBytes = 1024 * 1024;

/** The provider that a valid file describes. `path`: the file, for people. */
export function fileProvider(id: string, path: string, file: ProviderFile): Provider {
  const { displayName, signature, formField, secretPrefix, setUp, settings, docs, checkedWith } =
    file;
  const changes = oneOrMore(file.retryChanges);
  const times = timePlacesOf(signature);
  return {
    id,
    displayName,
    path,
    signature,
    payload: file.payload ?? "json",
    deliveryIdIsSigned: isIdSigned(file),
    readHeaders: readHeaders(file),
    readQuery: readQuery(file),
    maxBodyBytes: file.maxBodyBytes ?? defaultMaxBodyBytes,
    handshakes: handshakesOf(file),
    data: dataFieldsOf(file),
    types: typesOf(file),
    interpret: describer(file),
    notify: [notification],
    retryChanges: changes.filter((place) => place.startsWith("/")),
    retryChangesTime: changes.some((place) => times.includes(place)),
    samples: samplesOf(file),
    ...(file.payment !== undefined && { payments: paymentSource(file, file.payment) }),
    ...(file.each !== undefined && {
      itemsIn: itemFinder(oneOrMore(file.each), changes),
    }),
    ...(file.destinations !== undefined && { destinations: file.destinations }),
    ...(formField !== undefined && { formField }),
    ...(secretPrefix !== undefined && { secretPrefix }),
    ...(setUp !== undefined && { setUp }),
    ...(settings !== undefined && { settings }),
    ...(docs !== undefined && { docs }),
    ...(checkedWith !== undefined && { checkedWith }),
  };
}

function typesOf({ events }: ProviderFile): readonly string[] {
  const notifying = Object.entries(events).filter(([, { notify = true }]) => notify);
  return notifying.map(([name, { type }]) => type ?? (name === "*" ? name : typeName(name)));
}

/** The fields that any of its events has, each described by the places that its values come from. */
export function dataFieldsOf({ payload, data, events }: ProviderFile): DataFields {
  const all = [
    isOpaque(payload) ? { text: "the body" } : {},
    data,
    ...Object.values(events).map((event) => event.data),
  ];
  const entries = all.flatMap((fields = {}) => Object.entries(fields));
  return Object.fromEntries(
    entries.map(([name, from]) => [name, text(`From \`${from.replaceAll("`", "'")}\`.`)]),
  );
}

/** Whether the signature covers every place of the delivery id. Without an id, the hash of the body is the key. */
function isIdSigned({ signature, deliveryId }: ProviderFile): boolean {
  // Who knows the URL could send any body with any id.
  if (signature.kind === "url") return true;
  return oneOrMore(deliveryId).every((place) => coversPlace(signature, place));
}

/** Headers that events are made of: their values are stored, for replays. Never one that proves the origin. */
export function readHeaders(file: ProviderFile): readonly string[] {
  const ofEvents = readPlaces(file).flatMap((place) => headerIn(place) ?? []);
  return [...new Set([...ofEvents, ...readHeadersOf(file.signature)])].toSorted();
}

/** The parameters of the query that events are made of. */
function readQuery(file: ProviderFile): readonly string[] {
  const names = readPlaces(file).filter((place) => place.startsWith("query."));
  return [...new Set(names.map((name) => name.slice("query.".length)))];
}

export function notification(event: EventContent, notice: Notice | null): NewNotification {
  const { title, url, actor, subject } = event;
  const details = notice?.text ?? joined(" · ", actor && `by ${actor}`, subject);
  return { title, text: details, url, severity: notice?.severity ?? "info" };
}

type FilePayment = NonNullable<ProviderFile["payment"]>;

/** Where a valid file says that payments are. */
function paymentSource(file: ProviderFile, payment: FilePayment): PaymentSource {
  const { kinds, currency, refund, unit = "minor", test } = payment;
  const events = Object.entries(kinds).flatMap(([name, kind]) => {
    const event = file.events[name];
    const bookingReference = event?.bookingReference ?? file.bookingReference;
    const amount = placeFor(kind, payment.amount);
    if (bookingReference === undefined || amount === undefined) return [];
    const id = placeFor(kind, payment.id);
    const type = event?.type ?? typeName(name);
    const unlistedType = typeName(name);
    const places: PaymentPlaces = {
      ...(unlistedType !== type && { unlistedType }),
      kind,
      bookingReference: [bookingReference],
      amount,
      currency,
      ...(id !== undefined && { payment: id }),
      ...(kind === "refund_failed" && refund !== undefined && { part: refund }),
    };
    return [[type, places] as const];
  });
  return {
    events: Object.fromEntries(events),
    unit,
    decimals: file.decimals ?? {},
    ...(test !== undefined && { test: { place: test.at, value: test.is } }),
  };
}

function placeFor(
  kind: FilePayment["kinds"][string],
  places: FilePayment["amount"] | undefined,
): string | undefined {
  return typeof places === "object" ? places[kind] : places;
}

type FileSample = ProviderFile["samples"][string];

/** The samples of a file, with new ids and times in each request. */
export function samplesOf({ samples }: ProviderFile): Readonly<Record<string, Sample>> {
  return Object.fromEntries(
    Object.entries(samples).map(([event, sample]) => [event, (fresh) => filled(sample, fresh)]),
  );
}

function filled({ headers = {}, query = {}, body }: FileSample, fresh: Fresh): ReturnType<Sample> {
  const texts = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, filledText(value, fresh)]),
    );
  const value = filledValue(body, fresh);
  const filledBody = typeof value === "string" ? { text: value } : (asPayload(value) ?? {});
  return { headers: texts(headers), query: texts(query), body: filledBody };
}

function filledValue(value: unknown, fresh: Fresh): unknown {
  if (Array.isArray(value)) return value.map((inner) => filledValue(inner, fresh));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, filledValue(inner, fresh)]);
    return Object.fromEntries(entries);
  }
  if (typeof value !== "string") return value;
  if (value === "{seconds}" || value === "{milliseconds}") return Number(filledText(value, fresh));
  return filledText(value, fresh);
}

function filledText(text: string, { id, now }: Fresh): string {
  return text
    .replaceAll("{id}", id)
    .replaceAll("{now}", now.toISOString())
    .replaceAll("{seconds}", String(Math.floor(now.getTime() / 1_000)))
    .replaceAll("{milliseconds}", String(now.getTime()));
}
