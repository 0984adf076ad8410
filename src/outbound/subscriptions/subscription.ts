import type { Context } from "../../base/context.ts";
import type { Severity } from "../../event/new-notification.ts";

/** What identifies a subscription. None of it can change. */
export interface SubscriptionKey {
  /** The token for an agent, or the user that it acts for. */
  readonly subscriber: string;
  readonly url: string;
  readonly provider: string;
  readonly type: string;
  /** Only notifications with one of these; null for all. */
  readonly severity: readonly Severity[] | null;
  /** Only events about this; null for all. */
  readonly subject: string | null;
}

export interface NewSubscription extends SubscriptionKey {
  /** Signs the deliveries: `whsec_` and the base64 of 24 to 64 bytes. */
  readonly secret: string;
  /** How long it lasts unless it is refreshed. Undefined: a day. Null: as long as possible. */
  readonly ttlMs: number | null | undefined;
}

/** The name of its destination, by which the subscriber knows it too. Equal keys have equal names. */
export function subscriptionName(key: SubscriptionKey): string {
  const { subscriber, url, provider, type, severity, subject } = key;
  const severities = severity && [...new Set(severity)].toSorted();
  const text = JSON.stringify([subscriber, url, `${provider}.${type}`, severities, subject]);
  return `sub_${new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32)}`;
}

/** The filter of its destination. JSON escapes a text as CEL does. */
export function filterOf({ provider, type, severity, subject }: SubscriptionKey): string {
  return [
    `event.provider == ${JSON.stringify(provider)}`,
    `event.type == ${JSON.stringify(type)}`,
    ...(severity === null ? [] : [`event.severity in ${JSON.stringify(severity)}`]),
    ...(subject === null ? [] : [`event.subject == ${JSON.stringify(subject)}`]),
  ].join(" && ");
}

/** The lengths of a subscription. */
const shortestMs = 5 * 60_000;
const usualMs = 24 * 3_600_000;
const longestMs = 7 * usualMs;

/** When a subscription ends: with its token at the latest, but a user gets new access tokens. */
export function endOf(
  { actor, expiresAt }: Context,
  { subscriber, ttlMs }: Pick<NewSubscription, "subscriber" | "ttlMs">,
  nowMs: number,
): Date {
  const wanted = ttlMs === null ? longestMs : (ttlMs ?? usualMs);
  const latest = subscriber === actor.id ? Number.POSITIVE_INFINITY : expiresAt.getTime();
  return new Date(Math.min(nowMs + Math.min(Math.max(wanted, shortestMs), longestMs), latest));
}

const [leastSecretBytes, mostSecretBytes] = [24, 64] as const;

export function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? "";
  const key = Buffer.from(encoded, "base64");
  const isLong = key.length >= leastSecretBytes && key.length <= mostSecretBytes;
  return isLong && key.toBase64() === encoded;
}

/** Why there is no subscription. `data`: what a client may be given besides. */
export class SubscriptionRefused extends Error {
  override readonly name = "SubscriptionRefused";

  constructor(
    readonly kind: "arguments" | "not-found" | "limit" | "callback",
    message: string,
    readonly data: Readonly<Record<string, string | number>> = {},
  ) {
    super(message);
  }
}
