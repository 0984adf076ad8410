/**
 * Makes ids that sort by time of making: a prefix that names the kind, then a UUIDv7 (RFC 9562
 * section 5.7) as 32 lower-case hex digits. Ids made in one process rise strictly, also inside one
 * millisecond. `nowMs`: milliseconds since the epoch.
 */
export type MakeId = <Prefix extends string>(
  prefix: Prefix,
  nowMs: number,
) => `${Prefix}_${string}`;

export const makeId: MakeId = (prefix, nowMs) =>
  `${prefix}_${Bun.randomUUIDv7("buffer", nowMs).toString("hex")}`;
