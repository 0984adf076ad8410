import type { SecretUse } from "../model/secret-use.ts";
import type { Registered } from "../providers/registry.ts";

import type { Rotation } from "./provider-status.schema.ts";

/** Providers retry for about a day and sign each attempt again. */
const quietMs = 24 * 3_600_000;

/**
 * The state of a provider's secret rotation. The previous secret is safe to remove if the current one has
 * matched since and the previous one has not matched for 24 hours. If the previous one never matched, the
 * 24 hours begin with the first match of the current one.
 */
export function rotation(
  { secrets, fingerprints }: Pick<Registered, "secrets" | "fingerprints">,
  uses: readonly SecretUse[],
  nowMs: number,
): Rotation {
  const useOf = (fingerprint: string) => uses.find(({ secret }) => secret === fingerprint);
  const [current, previous] = [useOf(fingerprints.current), useOf(fingerprints.previous)];
  const isPresent = Boolean(secrets?.previous);
  const quietSince = previous?.lastMatchedAt ?? current?.firstMatchedAt;
  const isReplaced =
    current !== undefined && (!previous || current.lastMatchedAt > previous.lastMatchedAt);
  return {
    current: { present: secrets !== null, lastMatchedAt: current?.lastMatchedAt ?? null },
    previous: {
      present: isPresent,
      lastMatchedAt: previous?.lastMatchedAt ?? null,
      safeToRemove:
        isPresent &&
        isReplaced &&
        quietSince !== undefined &&
        nowMs - quietSince.getTime() >= quietMs,
    },
  };
}
