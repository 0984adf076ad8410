import { expect } from "bun:test";

import { isObject, type JsonObject } from "../../src/base/payload.ts";
import type { Event } from "../../src/event/event.ts";
import type {
  Interpretation,
  Provider,
  VerifiedRequest,
} from "../../src/inbound/providers/provider.ts";

/** The time of all samples. */
export const now = new Date("2026-11-21T09:12:44.120Z");

/** Interprets a payload as the receiver does. */
export function interpretPayload(
  provider: Provider,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Interpretation {
  if (!isObject(payload)) throw new Error("A payload is an object");
  return provider.interpret({ payload, header: headerOf(headers) });
}

export function headerOf(headers: Readonly<Record<string, string>>): VerifiedRequest["header"] {
  const values = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return (...names) =>
    names.map((name) => values.get(name)).find((value) => value !== undefined) ?? null;
}

export function notificationsOf(provider: Provider, interpreted: Interpretation) {
  const event: Event = {
    ...interpreted,
    id: "evt_1",
    provider: provider.id,
    idempotencyKey: "1",
    occurredAt: interpreted.occurredAt ?? now,
    createdAt: now,
    recovered: false,
  };
  return provider.notify
    .map((notify) => notify(event, interpreted.notice ?? null))
    .filter((message) => message !== null);
}

export function fresh() {
  return { id: crypto.randomUUID(), now };
}

export function sampleBody(provider: Provider, type: string): JsonObject {
  const body = provider.samples[type]?.(fresh()).body;
  if (body === undefined) throw new Error(`${provider.id} has no sample ${type}`);
  return body;
}

export function expectBounded(event: Interpretation): void {
  expect(event.type).toMatch(/^[\w.:-]{1,80}$/);
  expect(event.title).not.toBe("");
  expectPrintable(event.title, 500);
  expectPrintable(event.actor, 500);
  expectPrintable(event.subject, 300);
  if (event.deliveryId !== null) expect(event.deliveryId).toMatch(/^[\x21-\x7e]{1,200}$/);
  if (event.url !== null) expect(event.url).toMatch(/^https?:\/\/[\x21-\x7e]{1,2040}$/);
  if (event.occurredAt !== null) expect(event.occurredAt.getTime()).toBeInteger();
  expect(Object.keys(event.data).length).toBeLessThan(12);
  for (const value of Object.values(event.data)) {
    if (typeof value === "string") expectPrintable(value, 500);
    else expect(value).toBeBoolean();
  }
}

export function expectPrintable(text: string | null, maxLength: number): void {
  if (text === null) return;
  expect(text.length).toBeLessThanOrEqual(maxLength);
  expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
  expect(text.isWellFormed()).toBe(true);
}

export type Path = readonly string[];

/** A copy with the value at a path replaced. */
export function replaced(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (typeof value !== "object" || value === null) return value;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const changed = entries.map(([name, inner]) =>
    name === key ? ([name, replaced(inner, rest, replacement)] as const) : ([name, inner] as const),
  );
  return Array.isArray(value) ? changed.map(([, inner]) => inner) : Object.fromEntries(changed);
}
