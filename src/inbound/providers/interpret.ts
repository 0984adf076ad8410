import { AppError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { asPayload, isObject, type JsonObject, printable } from "../../base/payload.ts";
import { pointerKeys, valueAt } from "../../base/place.ts";
import type { Event, EventContent, StoredReceipt } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { queryHeader } from "../../event/stored-headers.ts";
import { compactJson } from "../signatures/compact-json.ts";
import { isTokenInBody, type SignatureScheme, signsCompactJson } from "../signatures/scheme.ts";
import type { Verified } from "../signatures/signed-request.ts";

import { paymentIn } from "./payment.ts";
import type {
  Interpretation,
  Interpreted,
  Notice,
  Provider,
  Sent,
  VerifiedRequest,
} from "./provider.ts";

/** Looks a header up by its lower-case name, and the query under `queryHeader`. */
type HeaderLookup = (name: string) => string | null;

/**
 * The maximum items of a delivery, which are stored in one transaction. Services that state a maximum send up to 1,000;
 * SendGrid sends up to 768 KB, some 3,000 items.
 */
export const maxItems = 5_000;

/**
 * Parses and interprets verified bytes: one event, or one for each item. Returns null if they are not what the provider
 * sends, as a JSON object in UTF-8; a text is always what it is. Throws `body-too-large` beyond `maxItems`. Pure. Ignores the content type: no
 * signature covers it, so anyone who captured a request could change it. `only`: the number of the only item to interpret.
 */
export function interpret(
  provider: Provider,
  { bytes }: Pick<Verified, "bytes">,
  headerOf: HeaderLookup,
  only: number | null = null,
): readonly Interpreted[] | null {
  const sent = sentIn(provider, bytes);
  if (sent === null) return null;
  const { value: delivery } = sent;
  const header: VerifiedRequest["header"] = (...names) => {
    const value = names.map(headerOf).find((candidate) => candidate !== null) ?? null;
    return value === null ? null : printable(value);
  };
  const query = headerOf(queryHeader) ?? "";
  const items = provider.itemsIn?.(sent) ?? [];
  if (items.length === 0)
    return [interpreted(provider, sent, { payload: delivery, delivery, header, query }, null)];
  if (only === null && items.length > maxItems) {
    const detail = `The delivery has ${items.length} items, more than ${maxItems}`;
    throw new AppError("body-too-large", detail);
  }
  const first = only ?? 1;
  const wanted = only === null ? items : items.slice(only - 1, only);
  return wanted.map((item, index) => {
    // Nothing can be read from what is neither an object nor an array.
    const payload = asPayload(item.value) ?? {};
    return interpreted(provider, item, { payload, delivery, header, query }, first + index);
  });
}

function interpreted(
  provider: Provider,
  { text, context }: Sent,
  request: VerifiedRequest,
  item: Interpreted["item"],
): Interpreted {
  const interpretation = provider.interpret(request);
  const isListed = interpretation.status === "accepted";
  const { type, occurredAt } = interpretation;
  const payment = isListed ? paymentIn(provider, type, request.payload, occurredAt) : null;
  return { ...interpretation, text, context, item, payment };
}

/**
 * Interprets the stored request of an event again: of several items its own, and the first for an event that was stored
 * before the provider had items. Null if retention deleted the body, or it is not to be found.
 */
export function interpretStored(
  provider: Provider,
  { body, headers, item }: Pick<StoredReceipt, "body" | "headers" | "item">,
): Interpreted | null {
  if (body === null) return null;
  const all = interpret(provider, { bytes: body }, (name) => headers?.[name] ?? null, item ?? 1);
  const [own = null] = all ?? [];
  return item === null || own?.item === item ? own : null;
}

/** What an event shows of its interpretation. */
export function interpretedFields(
  { type, status, occurredAt, subject, title, url, actor, data }: Interpretation,
  { createdAt }: Pick<Event, "createdAt">,
): InterpretedFields {
  return { type, status, occurredAt: occurredAt ?? createdAt, subject, title, url, actor, data };
}

type InterpretedFields = Pick<
  Event,
  "type" | "status" | "occurredAt" | "subject" | "title" | "url" | "actor" | "data"
>;

/** The notifications for an event. None unless its status is `accepted`. */
export function notificationsOf(
  provider: Provider,
  event: EventContent,
  notice: Notice | null,
): readonly NewNotification[] {
  if (event.status !== "accepted") return [];
  return provider.notify.map((notify) => notify(event, notice)).filter((made) => made !== null);
}

/** The parsed payload, or null as for `interpret`. */
export function payloadOf(provider: Provider, bytes: Uint8Array): JsonObject | null {
  return sentIn(provider, bytes)?.value ?? null;
}

type Delivery = Sent<JsonObject>;

function sentIn(
  { signature, payload: format = "object", formField }: Provider,
  bytes: Uint8Array,
): Delivery | null {
  if (format === "jwt") return claimsIn(signature, bytes);
  if (isOpaque(format)) return sentText(bytes, format);
  // An array is a payload only where the provider says so.
  const isWanted = ({ value }: Delivery) => format !== "object" || isObject(value);
  const sent = parse(bytes, format, formField);
  if (sent !== null) return isWanted(sent) ? sent : null;
  if (!signsCompactJson(signature)) return null;
  // The signature does not cover white space, so it may have been added within tokens.
  const compact = parse(compactJson(bytes), format, formField);
  return compact !== null && isWanted(compact) ? compact : null;
}

/** Whether the body is stored and sent on without being parsed. */
export function isOpaque(format: Provider["payload"]): format is "text" | "xml" | "bytes" {
  return format === "text" || format === "xml" || format === "bytes";
}

/** The text of a body that is not parsed. Texts are read whatever they are; bytes have a text if they are valid UTF-8. */
function sentText(bytes: Uint8Array, format: "text" | "xml" | "bytes"): Delivery {
  const [first, second] = bytes;
  const mark = first === 0xfe && second === 0xff ? "utf-16be" : "utf-16le";
  const isUtf16 = mark === "utf-16be" || (first === 0xff && second === 0xfe);
  try {
    const decoder = format === "bytes" ? utf8 : new TextDecoder(isUtf16 ? mark : "utf-8");
    return { value: { text: decoder.decode(bytes) }, text: "", context: "" };
  } catch {
    return { value: {}, text: "", context: "" };
  }
}

// Removes a byte order mark, and throws on invalid UTF-8.
const utf8 = new TextDecoder("utf-8", { fatal: true });

type Format = NonNullable<Provider["payload"]>;

function parse(bytes: Uint8Array, format: Format, formField: string | undefined): Delivery | null {
  try {
    const text = utf8.decode(bytes);
    const isForm = format === "form" || (formField !== undefined && !isJson.test(text));
    return isForm ? sentForm(text, format, formField) : sentJson(text);
  } catch {
    return null;
  }
}

function sentJson(text: string): Delivery | null {
  const value = asPayload(parseJson(text));
  return value === null ? null : { value, text, context: "" };
}

/** How an object or an array starts. */
const isJson = /^\s*[[{]/;

/** Forms with more fields are not read. */
const maxFields = 1_000;

/** The JSON in its field; without it, the fields of the form, of a repeated one the first. */
function sentForm(text: string, format: Format, formField = ""): Delivery | null {
  if (text.split("&", maxFields + 1).length > maxFields) return null;
  const fields = Object.fromEntries([...new URLSearchParams(text)].toReversed());
  if (Object.hasOwn(fields, formField)) return sentJson(fields[formField] ?? "");
  return format === "object" ? null : sentJson(JSON.stringify(fields));
}

/** The claims of the token that the signature is. It was verified on receipt. */
function claimsIn(scheme: SignatureScheme, bytes: Uint8Array): Delivery | null {
  if (scheme.kind !== "jwt" || !isTokenInBody(scheme)) return null;
  try {
    const text = utf8.decode(bytes);
    const token =
      scheme.from === "body" ? text : String(valueAt(parseJson(text), pointerKeys(scheme.from)));
    const [, claims = ""] = token.slice((scheme.prefix ?? "").length).split(".");
    return sentJson(utf8.decode(Buffer.from(claims, "base64url")));
  } catch {
    return null;
  }
}
