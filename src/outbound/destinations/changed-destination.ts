import type { KeyRing } from "../../base/sealing.ts";
import { formatInfo, givenSecretOf, isSigned } from "../formats/formats.ts";
import { makeSecret } from "../formats/standard-webhooks.ts";
import { headersIn, linesOf, namesOf } from "../model/destination-headers.ts";
import { keptSecrets, readSecrets, sealSecrets, shownUrl } from "../model/destination-secrets.ts";
import { operatorGateway, type StoredDestination } from "../model/destination.ts";
import { type PrivateAllowed, rulesFor } from "../transports/address.ts";
import type { TransportName } from "../transports/transports.ts";

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
  // A destination can be paused even if its URL or key is no longer valid.
  const isEdited = Object.keys(changes).length > 0;
  const { next, fields } = isEdited ? edited(parts, stored, changes) : { next: stored, fields: [] };
  const disabledReason = state === stored.state ? stored.disabledReason : null;
  return {
    next: { ...next, state, disabledReason },
    changes: fields.map((field) => changeText(field, valuesOf(stored), valuesOf(next))),
    fields: state === stored.state ? fields : [...fields, "state"],
  };
}

type Values = Readonly<Record<string, unknown>>;

/** The values that may be shown, under the names of the fields that change them. */
function valuesOf(stored: StoredDestination): Values {
  return { ...stored, headers: stored.headerNames };
}

/** `filter: none → event.severity == "error"`; only that it changed where the value, or what differs in it, is secret. */
function changeText(field: string, before: Values, after: Values): string {
  const [old, now] = [before, after].map(({ [field]: value }) => shownValue(value));
  return old === now ? `${field}: changed` : `${field}: ${old} → ${now}`;
}

const maxShownLength = 100;

function shownValue(value: unknown): string {
  const given = value ?? "none";
  const text = (typeof given === "string" ? given : JSON.stringify(given)).replaceAll(/\s+/g, " ");
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
  const { url = before.url, secret: given, headers: lines, ...rest } = changes;
  const { format = stored.format, transport = transportOf(format, stored) } = changes;
  const kept = keptSecrets(before, stored.format, format);
  const headers = lines === undefined ? linesOf(kept.headers) || null : lines;
  const { tokenUrl = kept.tokenUrl } = changes;
  const supplied = given ?? (givenSecretOf(format) === null ? null : kept.secret);
  // A filter that stays was compiled when it was stored, which takes most of the time of a change.
  const { filter = null } = changes;
  validate(
    {
      ...stored,
      ...rest,
      transport,
      filter,
      url,
      headers,
      tokenUrl,
      ...(supplied !== null && { secret: supplied }),
    },
    id === operatorGateway.id ? null : rulesFor(privateAllowed, ownerId),
    ownerId,
  );
  const old: Readonly<Record<string, unknown>> = {
    ...stored,
    url: before.url,
    secret: before.secret,
    headers: linesOf(before.headers) || null,
    tokenUrl: before.tokenUrl,
  };
  const fields = Object.entries(changes)
    .filter(([field, value]) => value !== old[field])
    .map(([field]) => field);
  const sent = headersIn(headers);
  const shown = {
    url: shownUrl(url),
    headerNames: namesOf(sent),
    tokenUrl: tokenUrl && shownUrl(tokenUrl),
  };
  const next = { ...stored, ...rest, transport, ...shown };
  if (!sealedFields.some((field) => fields.includes(field))) return { next, fields };
  const secret = isSigned(format) ? (kept.secret ?? makeSecret()) : supplied;
  const sealed = sealSecrets(keys(), id, { ...kept, url, secret, headers: sent, tokenUrl });
  return { next: { ...next, sealed }, fields };
}

/** The fields that change what is sealed. */
const sealedFields = ["format", "url", "secret", "headers", "tokenUrl"];

/** A signed format keeps its transport; others have one each. */
function transportOf(format: string, { transport }: StoredDestination): TransportName {
  if (isSigned(format) && transport !== "smtp") return transport;
  return formatInfo(format)?.transport ?? transport;
}
