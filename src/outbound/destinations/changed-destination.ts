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
  /** What has changed, for the audit list: a line per field other than the state, without secrets. */
  readonly changes: readonly string[];
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
    changes: fields.map((field) => changeText(field, valuesOf(stored), valuesOf(next))),
    fields: state === stored.state ? fields : [...fields, "state"],
  };
}

type Value = string | number | boolean | null | undefined;
type Values = Readonly<Record<string, Value>>;

/** The values that may be shown. */
function valuesOf({ name, format, address, ...rest }: StoredDestination): Values {
  const { filter, orderBy, ratePerSecond, maxConcurrent, alerts } = rest;
  return { name, format, url: address, filter, orderBy, ratePerSecond, maxConcurrent, alerts };
}

/** `filter: none → event.severity == "error"`; only that it changed where the value, or what differs in it, is secret. */
function changeText(field: string, before: Values, after: Values): string {
  const [old, now] = [before, after].map(({ [field]: value }) => shownValue(value));
  return old === now ? `${field}: changed` : `${field}: ${old} → ${now}`;
}

const maxShownLength = 100;

function shownValue(value: Value): string {
  const text = String(value ?? "none").replaceAll(/\s+/g, " ");
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}

/** Makes the secret of a format that Skyhook signs, and drops one of another kind. */
function edited(
  { privateAllowed, keys }: Parts,
  stored: StoredDestination,
  changes: DestinationChanges,
): Pick<Changed, "next" | "fields"> {
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
