import type { KeyRing } from "../../base/sealing.ts";
import { keptSecrets, readSecrets, sealSecrets, shownAddress } from "../destination-secrets.ts";
import { operatorGateway, type StoredDestination } from "../destination.ts";
import { givenSecretOf, isSigned } from "../formats/formats.ts";
import { makeSecret } from "../formats/standard-webhooks.ts";
import { type PrivateAllowed, rulesFor } from "../transports/address.ts";

import { type DestinationChanges, validate } from "./destination-input.ts";
import { requireNotOfSettings } from "./operator-gateway.ts";

interface Parts {
  readonly privateAllowed: PrivateAllowed;
  readonly keys: () => KeyRing;
}

/** A destination with the given fields, and the names of those whose values differ from before. */
interface Changed {
  readonly next: StoredDestination;
  readonly fields: readonly string[];
}

/** Applies the given fields. Throws `validation-failed`. */
export function changedDestination(
  parts: Parts,
  stored: StoredDestination,
  { state = stored.state, ...changes }: DestinationChanges,
): Changed {
  requireNotOfSettings(stored, { ...changes, state });
  // A destination can be paused even if its address or key is no longer valid.
  const isEdited = Object.keys(changes).length > 0;
  const { next, fields } = isEdited ? edited(parts, stored, changes) : { next: stored, fields: [] };
  return {
    next: { ...next, state },
    fields: state === stored.state ? fields : [...fields, "state"],
  };
}

/** Makes the secret of a format that Skyhook signs, and drops one of another kind. */
function edited(
  { privateAllowed, keys }: Parts,
  stored: StoredDestination,
  changes: DestinationChanges,
): Changed {
  const { id, ownerId } = stored;
  const before = readSecrets(keys(), stored);
  const { url = before.address, secret: given, ...rest } = changes;
  const next = { ...stored, ...rest, address: shownAddress(url) };
  const kept = keptSecrets(before, stored.format, next.format);
  const supplied = given ?? (givenSecretOf(next.format) === null ? null : kept.secret);
  // A filter that stays was compiled when it was stored, which takes most of the time of a change.
  const { filter = null } = changes;
  validate(
    { ...next, filter, url, ...(supplied !== null && { secret: supplied }) },
    id === operatorGateway.id ? null : rulesFor(privateAllowed, ownerId),
    ownerId,
  );
  const old: Readonly<Record<string, unknown>> = {
    ...stored,
    url: before.address,
    secret: before.secret,
  };
  const fields = Object.entries(changes)
    .filter(([field, value]) => value !== old[field])
    .map(([field]) => field);
  if (!["format", "url", "secret"].some((field) => fields.includes(field))) return { next, fields };
  const secret = isSigned(next.format) ? (kept.secret ?? makeSecret()) : supplied;
  const sealed = sealSecrets(keys(), id, { ...kept, address: url, secret });
  return { next: { ...next, sealed }, fields };
}
