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

/**
 * The positions of a millisecond: a position is a time in milliseconds since the epoch times this, plus a number within
 * the millisecond. A safe integer until the year 2248.
 */
export const positionsPerMs = 1_024;

/** The first position of a time. */
export function firstPositionAt(atMs: number): number {
  return Math.max(0, Math.floor(atMs)) * positionsPerMs;
}

/** The time of a position, also as a database returns it. */
export function timeOfPosition(position: number | string): Date {
  return new Date(Math.floor(Number(position) / positionsPerMs));
}

/** The bits of a tail. */
const tailBits = 52;
export const maxTail = 2 ** tailBits - 1;

/** The random part of an id that is made from a position, so that no two databases have the same ids. */
export function makeTail(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** (tailBits - 32)) * 2 ** 32 + low;
}

/**
 * The id of what has a position and a tail: a UUIDv7 (RFC 9562 section 5.7) whose time is that of the position, and whose
 * `rand_a` begins with its number within the millisecond. `Dialect.idOf` makes the same.
 */
export function idAt<Prefix extends string>(
  prefix: Prefix,
  position: number,
  tail: number,
): `${Prefix}_${string}` {
  const time = hex(Math.floor(position / positionsPerMs), 12);
  return `${prefix}_${time}7${hex((position % positionsPerMs) * 4, 3)}800${hex(tail, 13)}`;
}

/** The position and tail in an id of `idAt`; null if it is none. */
export function placeIn(
  prefix: string,
  id: string,
): { readonly position: number; readonly tail: number } | null {
  const digits = id.slice(prefix.length + 1);
  const [ms, number] = [parseHex(digits.slice(0, 12)), parseHex(digits.slice(13, 16)) / 4];
  const [position, tail] = [ms * positionsPerMs + number, parseHex(digits.slice(-13))];
  return Number.isSafeInteger(position) && idAt(prefix, position, tail) === id
    ? { position, tail }
    : null;
}

/** The position in the id of a stored event. */
export function positionIn(id: `evt_${string}`): number {
  const place = placeIn("evt", id);
  if (place === null) throw new Error(`${id} is no id of an event`);
  return place.position;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
const parseHex = (digits: string) => Number.parseInt(digits, 16);
