import type { Clock } from "../../base/clock.ts";
import { connectionError, errorMessage } from "../../base/errors.ts";
import { withTimeout } from "../../base/in-time.ts";

import { TransportError } from "./transport.ts";

/** What another server gave until a time, in milliseconds since the epoch. */
export interface Lent<Value> {
  readonly value: Value;
  readonly endsAtMs: number;
}

const timeoutMs = 5_000;
/** Or half of its life before it ends. */
const renewBeforeMs = 5 * 60_000;
/** From a renewal that failed to the next one. */
const retryMs = 10_000;

/**
 * Keeps credentials in memory and renews them before they end. Simultaneous callers share one request. `get` throws a
 * `TransportError` that begins with `server`. `drop` is for what was refused: the next call asks for another one.
 */
export function renewed<Value>(clock: Clock, server: string, ask: () => Promise<Lent<Value>>) {
  let held: (Lent<Value> & { readonly renewAtMs: number }) | null = null;
  let asking: Promise<Value> | null = null;

  async function asked(): Promise<Value> {
    try {
      const lent = await withTimeout(ask(), timeoutMs, () => {
        throw new Error(`no answer within ${timeoutMs / 1_000} s`);
      });
      const lifeMs = lent.endsAtMs - clock.now();
      held = { ...lent, renewAtMs: lent.endsAtMs - Math.min(renewBeforeMs, lifeMs / 2) };
      return lent.value;
    } catch (error) {
      const [reason] = (connectionError(error) ?? errorMessage(error)).split(' fetching "');
      throw new TransportError(`${server}: ${reason}`);
    } finally {
      asking = null;
    }
  }

  return {
    async get(): Promise<Value> {
      const now = clock.now();
      if (held === null || now >= held.endsAtMs) return (asking ??= asked());
      const { value, renewAtMs } = held;
      if (now < renewAtMs) return value;
      held = { ...held, renewAtMs: now + retryMs };
      // Not awaited: the value can be used until it ends.
      (asking ??= asked()).catch(() => {});
      return value;
    },
    drop(value: Value): void {
      if (held?.value === value) held = null;
    },
  };
}

/** The texts and numbers of a JSON object under these names, and empty texts for what `headerValue` refuses. */
export function textsIn(json: string, names: readonly string[]): readonly string[] {
  let answer: Readonly<Record<string, unknown>> = {};
  try {
    answer = { ...Object(JSON.parse(json)) };
  } catch {
    // The error would quote the answer.
  }
  return names.map((name) => headerValue(answer[name]));
}

/** Empty unless the value has no spaces and fits into a header, and into the limits of most servers. */
export function headerValue(value: unknown): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return /^[\x21-\x7e]{1,7000}$/.test(text) ? text : "";
}
