import { AppError } from "../../base/errors.ts";
import {
  type KeyRing,
  missingKey,
  MissingKeyError,
  open,
  seal,
  sealingKey,
} from "../../base/sealing.ts";
import { isSigned } from "../formats/formats.ts";

import type { Destination, StoredDestination } from "./destination.ts";

/** What only the sender may know of a destination. */
export interface DestinationSecrets {
  /** The whole URL, which may hold a token or a password. */
  readonly url: string;
  /** Sent with every message, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where a token for each request comes from, with the client's login; null without. */
  readonly tokenUrl: string | null;
  /** Signs, or authenticates, what is sent; null if the format has none. */
  readonly secret: string | null;
  /** Also signs until then, in milliseconds since the epoch, so that receivers can change theirs meanwhile. */
  readonly previous: { readonly secret: string; readonly untilMs: number } | null;
}

/** How long the previous secret also signs. */
export const overlapMs = 24 * 3_600_000;

export function sealSecrets(
  keys: KeyRing,
  id: Destination["id"],
  secrets: DestinationSecrets,
): Uint8Array {
  return seal(keys, placeOf(id), JSON.stringify(secrets));
}

/** Throws a `MissingKeyError` if the key is not in the ring, another error if the value is damaged. */
export function openSecrets(
  keys: KeyRing,
  { id, name, sealed }: Pick<StoredDestination, "id" | "name" | "sealed">,
): DestinationSecrets {
  const text = open(keys, placeOf(id), sealed);
  if (text === null) {
    throw new MissingKeyError(
      missingKey(`the secrets of destination ${name} are`, sealingKey(sealed), keys),
    );
  }
  // Guarantee: the tag proves that this text is what `sealSecrets` wrote.
  return JSON.parse(text) as DestinationSecrets;
}

/** Like `openSecrets`, for a request: throws `unavailable` if the key is missing; the log names the key. */
export function readSecrets(keys: KeyRing, stored: StoredDestination): DestinationSecrets {
  try {
    return openSecrets(keys, stored);
  } catch (error) {
    if (!(error instanceof MissingKeyError)) throw error;
    const detail = "The secrets of this destination are temporarily unavailable. Try again later.";
    throw new AppError("unavailable", detail, { retryAfterSeconds: 60, cause: error });
  }
}

/** The secrets that a change of the format keeps: a secret that Skyhook made stays one, a routing key too. */
export function keptSecrets(
  secrets: DestinationSecrets,
  before: string,
  after: string,
): Omit<DestinationSecrets, "url"> {
  const isKept = before === after || (isSigned(before) && isSigned(after));
  return isKept ? secrets : { secret: null, previous: null, headers: {}, tokenUrl: null };
}

function placeOf(id: Destination["id"]): string {
  return `destination/${id}`;
}

/** The URL without credentials, path and query, which may hold a token. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "" : `${parsed.protocol}//${parsed.host}/…`;
}
