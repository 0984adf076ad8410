import type { FormField } from "../../../web/input.ts";
import type { Allowance } from "../wire.ts";

/** What a token may allow beyond reading. */
export const allowanceFields = {
  writes: {
    type: "flag",
    label: "Writes: replay and retry events, send tests, mute issues",
  },
  bodies: {
    type: "flag",
    label: "Bodies: read the bodies of webhooks, which may hold personal data",
  },
} as const satisfies Readonly<Record<Allowance, FormField>>;

// A newer server may know other words.
const labels: ReadonlyMap<string, string> = new Map(
  Object.entries(allowanceFields).map(([word, { label }]) => [word, label]),
);

export function allowedText(allowed: readonly Allowance[]): string {
  if (allowed.length === 0) return "Reads only";
  return allowed.map((word) => labels.get(word) ?? word).join(". ");
}
