/** No scheme accepts a time further ahead: clocks differ by less, and a request sent again would stay valid for longer. */
export const maxAheadSeconds = 300;

/** The maximum that a signed time may be ahead of now. */
export function aheadSeconds(toleranceSeconds: number): number {
  return Math.min(toleranceSeconds, maxAheadSeconds);
}

/** Whether a signed time is within the tolerance, in whole seconds as services count. False for NaN. */
export function isTimely(signedAtMs: number, nowMs: number, toleranceSeconds: number): boolean {
  const ageSeconds = Math.floor(nowMs / 1_000) - Math.floor(signedAtMs / 1_000);
  return ageSeconds <= toleranceSeconds && -ageSeconds <= aheadSeconds(toleranceSeconds);
}
