import type { RejectionReason } from "../../inbound/model/rejection.ts";

/** What a failed delivery is grouped by: the answer without the text that differs from one to the next. */
export function causeOf(lastError: string | null): string {
  if (lastError === null) return "unknown";
  const status = /^HTTP \d{3}/.exec(lastError)?.[0];
  return status ?? lastError.slice(0, maxCauseLength);
}

const maxCauseLength = 120;

/** What to do about a destination that answers so. */
export function deliveryAdvice(cause: string): string {
  const status = Number(/^HTTP (\d{3})$/.exec(cause)?.[1] ?? Number.NaN);
  if (status === 401 || status === 403)
    return "The destination rejects the request: check its secret or token.";
  if (status === 404 || status === 410)
    return "The URL no longer exists: correct it at the destination.";
  if (status === 429) return "The destination limits its rate: set a lower rate for it.";
  if (status >= 500) return "The destination failed: check its log.";
  if (status >= 300 && status < 400)
    return "The destination redirects, which is not followed: set its final URL.";
  if (status >= 400) return "The destination rejects the request: check its format and URL.";
  return "The destination cannot be reached: check that it runs and that this server may connect to it.";
}

const rejectionAdvices = {
  "missing-signature": "Set a secret for the webhook at the provider: its deliveries are unsigned.",
  "several-signatures": "Check that no proxy repeats the signature header.",
  "malformed-signature": "Check that no proxy changes the signature header.",
  "wrong-signature":
    "Compare the secret with the one at the provider; the latest delivery shows what was ruled out.",
  "missing-signed-value": "Check that no proxy removes headers that the signature covers.",
  "missing-timestamp": "Check that no proxy changes the signature header.",
  "stale-timestamp":
    "Synchronise the clocks of this machine and the sender, and look for what delays webhooks.",
  "untrusted-key":
    "The deliveries name a foreign key and are probably forged: check who sends them.",
  "unsupported-scheme": "Set up the kind of webhook that the latest request names.",
  "body-too-large": "Have the provider send less data: the bodies are larger than the limit.",
  "too-many-items": "Have the provider send fewer events in each delivery.",
  "unsupported-encoding": "Check that no proxy compresses requests.",
  "unknown-provider":
    "Requests name no registered provider: the latest one says which URL to correct. Mute this if they are scans.",
} satisfies Readonly<Record<RejectionReason, string>>;
const adviceByReason: ReadonlyMap<string, string> = new Map(Object.entries(rejectionAdvices));

/** `reason`: also one that a newer version stored. */
export function rejectionAdvice(reason: string): string {
  return adviceByReason.get(reason) ?? "Open the latest delivery to see what was received.";
}

export const secretAdvice =
  "Its webhooks get 503 until it has a secret. Set one, or remove it from WEBHOOK_PROVIDERS.";

export const circuitAdvice =
  "Repair the destination: one delivery is tried every 30 s, and once it succeeds the others follow.";

export const silenceAdvice =
  "Check at the provider that the webhook is active and has this server's URL.";
