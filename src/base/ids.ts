/**
 * Makes ids that sort by creation time: a prefix that names the kind, then a UUIDv7 (RFC 9562
 * section 5.7) as 32 lower-case hex digits. Ids from one process strictly increase, even within one
 * millisecond. `nowMs`: milliseconds since the epoch.
 */
export type MakeId = <Prefix extends string>(
  prefix: Prefix,
  nowMs: number,
) => `${Prefix}_${string}`;

export const makeId: MakeId = (prefix, nowMs) =>
  `${prefix}_${Bun.randomUUIDv7("buffer", nowMs).toString("hex")}`;

/** Whether a text can be an id with this prefix. */
export function isId<const Prefix extends string>(
  prefix: Prefix,
  text: string,
): text is `${Prefix}_${string}` {
  return text.startsWith(`${prefix}_`) && /^[0-9a-f]{1,64}$/.test(text.slice(prefix.length + 1));
}

/** The creation time in an id of `makeId`, in milliseconds since the epoch (RFC 9562 section 5.7). */
export function timeOfId(id: `${string}_${string}`): number {
  const hex = id.slice(id.indexOf("_") + 1);
  return Number.parseInt(hex.slice(0, 12), 16);
}

/** Sorts before all ids that `makeId` makes at this time or later, and after all earlier ones. No id is from before 1970. */
export function firstIdAt(prefix: string, atMs: number): string {
  return `${prefix}${Math.max(0, atMs).toString(16).padStart(12, "0")}`;
}
