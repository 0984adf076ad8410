import type { Event } from "../events/event.ts";
import type { Message } from "../notifications/notification.ts";

import { isObject, printable } from "./payload.ts";
import type { JsonObject, Normalised, Provider } from "./provider.ts";
import type { Verified } from "./signature.ts";

/** Looks a header up by its lower-case name. */
export type HeaderLookup = (name: string) => string | null;

/**
 * What verified bytes mean to their provider, or null when they are not JSON in UTF-8 with an object
 * at the top. Pure: the same bytes and headers always mean the same to one version of the program.
 */
export function interpret(
  provider: Provider,
  { bytes }: Pick<Verified, "bytes">,
  headerOf: HeaderLookup,
): Normalised | null {
  const payload = parse(bytes, isForm(headerOf) ? provider.formField : undefined);
  if (payload === null) return null;
  return provider.normalise({
    payload,
    header(...names) {
      const value = names.map(headerOf).find((candidate) => candidate !== null) ?? null;
      return value === null ? null : printable(value);
    },
  });
}

/** What operators are told of an event: nothing unless its provider accepted it. */
export function messagesOf(provider: Provider, event: Event): readonly Message[] {
  if (event.status !== "accepted") return [];
  return provider.notify.map((notify) => notify(event)).filter((message) => message !== null);
}

function isForm(headerOf: HeaderLookup): boolean {
  return headerOf("content-type")?.startsWith("application/x-www-form-urlencoded") ?? false;
}

// Takes a byte order mark off, and throws on what is not UTF-8.
const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array, formField: string | undefined): JsonObject | null {
  try {
    const text = utf8.decode(bytes);
    const json = formField === undefined ? text : new URLSearchParams(text).get(formField);
    const value: unknown = JSON.parse(json ?? "");
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
