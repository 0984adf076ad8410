import type { Registered } from "../providers/registry.ts";
import type { SecretUse } from "../secret-use.ts";

/** How far the change from one secret to the next has come. */
export interface Rotation {
  readonly current: SecretStatus;
  readonly previous: SecretStatus & {
    /** Nobody signs with it any more. */
    readonly safeToRemove: boolean;
  };
}

export interface SecretStatus {
  readonly present: boolean;
  /** When a delivery last verified with it; null when none did. */
  readonly lastMatchedAt: Date | null;
}

/** Providers try again for a day or so, and sign anew each time. */
const quietMs = 24 * 3_600_000;

/**
 * Where a provider's rotation stands. The previous secret is safe to remove when the current one has
 * matched since, and the previous one has matched nothing for 24 hours; where it never matched, since
 * the current one first did.
 */
export function rotation(
  { secrets, fingerprints }: Pick<Registered, "secrets" | "fingerprints">,
  uses: readonly SecretUse[],
  nowMs: number,
): Rotation {
  const useOf = (mark: string) => uses.find(({ secret }) => secret === mark);
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
