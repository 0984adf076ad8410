import type { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import type { KeyRing } from "../../base/sealing.ts";
import { invalid } from "../../base/validation.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { formats, isSigned } from "../formats/formats.ts";
import { makeSecret } from "../formats/standard-webhooks.ts";
import { destinationDefaults } from "../model/destination-fields.ts";
import { headersIn, namesOf } from "../model/destination-headers.ts";
import { sealSecrets, shownUrl } from "../model/destination-secrets.ts";
import type { StoredDestination } from "../model/destination.ts";
import { countOfOwner, insertIfRoom } from "../model/destinations.sql.ts";

import type { CheckedInput } from "./destination-input.ts";

/** The most destinations of the operators, so that one event never writes more deliveries than that. */
const maxDestinations = 100;
/** The most destinations of one user, and of all users. */
const maxUserDestinations = 5;
const maxOfUsers = 1_000;

/** A destination as it is first stored. Makes the secret of the formats that Skyhook signs. */
export function newDestination(
  { makeId, keys }: { readonly makeId: MakeId; readonly keys: () => KeyRing },
  input: CheckedInput,
  ownerId: string | null,
  now: Date,
): StoredDestination {
  const { url, secret, headers: lines, tokenUrl = null, transport, ...settings } = input;
  const { name, format } = settings;
  const id = makeId("dst", now.getTime());
  const made = isSigned(format) ? makeSecret() : null;
  const headers = headersIn(lines ?? null);
  const secrets = { url, secret: made ?? secret ?? null, previous: null, headers, tokenUrl };
  return {
    ...destinationDefaults,
    ...settings,
    id,
    name,
    ownerId,
    format,
    transport: transport ?? formats[format].transport,
    url: shownUrl(url),
    headerNames: namesOf(headers),
    tokenUrl: tokenUrl && shownUrl(tokenUrl),
    state: "active",
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
    failures: 0,
    openUntil: null,
    failingSince: null,
    sealed: sealSecrets(keys(), id, secrets),
  };
}

/** The write that stores a new destination. Throws `onNoRows` if its name is taken or there is no room. */
export function insertion(stored: StoredDestination, onNoRows: AppError): Write<never> {
  const maxOfOwner = maxOf(stored.ownerId);
  return write(insertIfRoom, { ...stored, maxOfOwner, maxOfUsers }, onNoRows);
}

/** The error for a destination beyond a limit. */
export async function noRoom(storage: Storage, ownerId: string | null): Promise<AppError> {
  const [own] = await storage.all(countOfOwner, { ownerId });
  const max = maxOf(ownerId);
  const detail =
    (own?.count ?? 0) >= max
      ? `There are ${max} destinations already. Remove one first.`
      : `The users of this server have ${maxOfUsers} destinations, the most allowed. Ask its operators.`;
  return invalid("", detail);
}

function maxOf(ownerId: string | null): number {
  return ownerId === null ? maxDestinations : maxUserDestinations;
}
