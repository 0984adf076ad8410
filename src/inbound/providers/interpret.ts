import { asPayload, isObject, type JsonObject, printable } from "../../base/payload.ts";
import type { Event } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { compactJson } from "../signatures/compact-json.ts";
import { pointerKeys, valueAt } from "../signatures/place.ts";
import { isTokenInBody, type SignatureScheme, signsCompactJson } from "../signatures/scheme.ts";
import type { Verified } from "../signatures/signed-request.ts";

import { paymentIn } from "./payment.ts";
import type { Interpreted, Provider } from "./provider.ts";

/** Looks a header up by its lower-case name. */
type HeaderLookup = (name: string) => string | null;

/**
 * Parses and interprets verified bytes. Returns null if they are neither a JSON object in UTF-8 nor a form
 * that contains one. Pure. Ignores the content type: no signature covers it, so anyone who captured a
 * request could change it.
 */
export function interpret(
  provider: Provider,
  { bytes }: Pick<Verified, "bytes">,
  headerOf: HeaderLookup,
): Interpreted | null {
  const payload = payloadOf(provider, bytes);
  if (payload === null) return null;
  const interpreted = provider.interpret({
    payload,
    header(...names) {
      const value = names.map(headerOf).find((candidate) => candidate !== null) ?? null;
      return value === null ? null : printable(value);
    },
  });
  const isListed = interpreted.status === "accepted";
  const payment = isListed ? paymentIn(provider, interpreted.type, payload) : null;
  return { ...interpreted, payment };
}

/** The notifications for an event. None unless its status is `accepted`. */
export function notificationsOf(provider: Provider, event: Event): readonly NewNotification[] {
  if (event.status !== "accepted") return [];
  return provider.notify.map((notify) => notify(event)).filter((made) => made !== null);
}

/** The parsed payload, or null as for `interpret`. */
export function payloadOf(
  { signature, payload: format = "object", formField }: Provider,
  bytes: Uint8Array,
): JsonObject | null {
  if (format === "form") return formPayload(bytes);
  if (format === "jwt") return claimsIn(signature, bytes);
  const payload = parse(bytes, formField);
  // An array is a payload only where the provider says so.
  const isWanted = (value: JsonObject) => format === "json" || isObject(value);
  if (payload !== null) return isWanted(payload) ? payload : null;
  if (!signsCompactJson(signature)) return null;
  // The signature does not cover white space, so it may have been added within tokens.
  const compact = parse(compactJson(bytes), formField);
  return compact !== null && isWanted(compact) ? compact : null;
}

// Removes a byte order mark, and throws on invalid UTF-8.
const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array, formField: string | undefined): JsonObject | null {
  try {
    const text = utf8.decode(bytes);
    const isForm = formField !== undefined && text.startsWith(`${formField}=`);
    return asPayload(JSON.parse(isForm ? fieldOf(text, formField) : text));
  } catch {
    return null;
  }
}

/** Fields of a form beyond this number are not read. */
const maxFields = 1_000;

/** The fields of a form; of a repeated field the first. Null if it is not UTF-8 or has too many. */
function formPayload(bytes: Uint8Array): JsonObject | null {
  try {
    const text = utf8.decode(bytes);
    if (text.split("&", maxFields + 1).length > maxFields) return null;
    return Object.fromEntries([...new URLSearchParams(text)].toReversed());
  } catch {
    return null;
  }
}

/** The claims of the token that the signature is. It was verified on receipt. */
function claimsIn(scheme: SignatureScheme, bytes: Uint8Array): JsonObject | null {
  if (scheme.kind !== "jwt" || !isTokenInBody(scheme)) return null;
  try {
    const text = utf8.decode(bytes);
    const token =
      scheme.from === "body" ? text : String(valueAt(JSON.parse(text), pointerKeys(scheme.from)));
    const [, claims = ""] = token.slice((scheme.prefix ?? "").length).split(".");
    return asPayload(JSON.parse(utf8.decode(Buffer.from(claims, "base64url"))));
  } catch {
    return null;
  }
}

/** The value of the first field of a form. Does not parse the others: there may be millions. */
function fieldOf(form: string, field: string): string {
  const [first = ""] = form.split("&", 1);
  return new URLSearchParams(first).get(field) ?? "";
}
