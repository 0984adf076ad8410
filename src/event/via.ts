/**
 * Names the notifications that led to a message, oldest first, as `Via` names proxies (RFC 9110 section 7.6.3). By them,
 * Skyhook recognises what it caused itself, also through other Skyhooks and in any format.
 */
export const viaHeader = "skyhook-via";

/** The ids of notifications in a header: as many as are stored of it. */
export function notificationIdsIn(text: string | null | undefined): readonly `ntf_${string}`[] {
  const found = text?.slice(-1_024).matchAll(/\bntf_([0-9a-f]{32})\b/g) ?? [];
  return Array.from(found, ([, hex]): `ntf_${string}` => `ntf_${hex}`);
}
