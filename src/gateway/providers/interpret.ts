import type { Event } from "../event.ts";
import type { Message } from "../notification.ts";

import { compactJson } from "../signatures/compact-json.ts";
import { isObject, printable } from "./payload.ts";
import type { JsonObject, Normalised, Provider } from "./provider.ts";
import type { Verified } from "../signatures/signature.ts";

/** Looks a header up by its lower-case name. */
export type HeaderLookup = (name: string) => string | null;

/**
 * Parses and normalises verified bytes. Returns null if they are neither a JSON object in UTF-8 nor a form
 * that contains one. Pure. Ignores the content type: no signature covers it, so anyone who captured a
 * delivery could change it.
 */
export function interpret(
  provider: Provider,
  { bytes }: Pick<Verified, "bytes">,
  headerOf: HeaderLookup,
): Normalised | null {
  const payload = read(provider, bytes);
  if (payload === null) return null;
  return provider.normalise({
    payload,
    header(...names) {
      const value = names.map(headerOf).find((candidate) => candidate !== null) ?? null;
      return value === null ? null : printable(value);
    },
  });
}

/** The notifications for an event. None unless its status is `accepted`. */
export function messagesOf(provider: Provider, event: Event): readonly Message[] {
  if (event.status !== "accepted") return [];
  return provider.notify.map((notify) => notify(event)).filter((message) => message !== null);
}

function read({ signature, formField }: Provider, bytes: Uint8Array): JsonObject | null {
  const payload = parse(bytes, formField);
  if (payload !== null || signature.signed !== "raw-or-compact-json") return payload;
  // The signature does not cover white space, so it may have been added within tokens.
  return parse(compactJson(bytes), formField);
}

// Removes a byte order mark, and throws on invalid UTF-8.
const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array, formField: string | undefined): JsonObject | null {
  try {
    const text = utf8.decode(bytes);
    const isForm = formField !== undefined && text.startsWith(`${formField}=`);
    const value: unknown = JSON.parse(isForm ? fieldOf(text, formField) : text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The value of the first field of a form. Does not parse the others: there may be millions. */
function fieldOf(form: string, field: string): string {
  const [first = ""] = form.split("&", 1);
  return new URLSearchParams(first).get(field) ?? "";
}
