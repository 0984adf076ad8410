import type { MakeId } from "../../base/ids.ts";
import type { KeyRing } from "../../base/sealing.ts";
import type { Storage } from "../../db/storage.ts";
import type { StoredDestination } from "../destination.ts";

import { type DestinationInput, invalid } from "./destination-input.ts";
import { sealSecrets, shownAddress, signedFormats } from "./destination-secrets.ts";
import { allDestinations } from "./destinations.sql.ts";
import { makeSecret } from "./formats/standard-webhooks.ts";

/** The most destinations of the operators, so that one event never writes more deliveries than that. */
const maxDestinations = 100;
/** The most destinations of one user, and of all users. */
const maxUserDestinations = 5;
const maxOfAllUsers = 1_000;
const defaultMaxConcurrent = 8;

/** A destination as it is first stored. Makes the secret of the formats that Skyhook signs. */
export function newDestination(
  { makeId, keys }: { readonly makeId: MakeId; readonly keys: () => KeyRing },
  input: DestinationInput,
  ownerId: string | null,
  now: Date,
): StoredDestination {
  const { name, format, url, filter, orderBy, ratePerSecond, maxConcurrent, alerts } = input;
  const id = makeId("dst", now.getTime());
  const made = signedFormats.includes(format) ? makeSecret() : null;
  const secrets = { address: url, secret: made ?? input.secret ?? null, previous: null };
  return {
    id,
    name,
    ownerId,
    format,
    address: shownAddress(url),
    filter: filter ?? null,
    orderBy: orderBy ?? null,
    ratePerSecond: ratePerSecond ?? null,
    maxConcurrent: maxConcurrent ?? defaultMaxConcurrent,
    alerts: alerts ?? false,
    state: "active",
    createdAt: now,
    updatedAt: now,
    failures: 0,
    openUntil: null,
    sealed: sealSecrets(keys(), id, secrets),
  };
}

/** Throws `validation-failed` if the owner, or all users, have as many as are allowed. */
export async function requireRoom(storage: Storage, ownerId: string | null): Promise<void> {
  const all = await storage.all(allDestinations, {});
  const own = all.filter((destination) => destination.ownerId === ownerId).length;
  const ofUsers = all.filter((destination) => destination.ownerId !== null).length;
  const limit = ownerId === null ? maxDestinations : maxUserDestinations;
  if (own < limit && (ownerId === null || ofUsers < maxOfAllUsers)) return;
  throw invalid("/name", `There are ${limit} destinations already. Remove one first.`);
}
