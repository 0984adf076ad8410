import { keyIds, type KeyRing, MissingKeyError, sealingKey } from "../../base/sealing.ts";
import { invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { secretOf } from "../formats/standard-webhooks.ts";
import { destinationDefaults } from "../model/destination-fields.ts";
import {
  type DestinationSecrets,
  openSecrets,
  sealSecrets,
  shownUrl,
} from "../model/destination-secrets.ts";
import { type Destination, operatorGateway, type StoredDestination } from "../model/destination.ts";
import {
  allDestinations,
  destinationById,
  insertDestination,
  updateDestination,
} from "../model/destinations.sql.ts";

import type { DestinationChanges } from "./destination-input.ts";

/** The URL while the settings name none. */
const notSet = "";

/** The settings of the operator gateway. Both are null if it is not configured. */
interface OperatorGatewaySettings {
  readonly operatorGatewayUrl: string | null;
  readonly operatorGatewaySecret: Uint8Array | null;
}

/**
 * Makes the destination of the settings, or updates it. Without settings, it is disabled: its deliveries wait
 * until it is set again.
 */
export async function storeOperatorGateway(
  storage: Storage,
  { operatorGatewayUrl: url, operatorGatewaySecret: key }: OperatorGatewaySettings,
  keys: KeyRing,
  nowMs: number,
): Promise<void> {
  const [before] = await storage.all(destinationById, { id: operatorGateway.id });
  // Later than before, also if the clock was set back, so that other instances notice the change.
  const now = new Date(Math.max(nowMs, (before?.updatedAt.getTime() ?? 0) + 1));
  if (url === null || key === null) {
    if (before === undefined || before.url === notSet) return;
    const unset = { ...before, url: notSet, state: "disabled", updatedAt: now } as const;
    await storage.atomically(write(updateDestination, { ...unset, before: before.updatedAt }));
    return;
  }
  const stored = stateOf(url, secretOf(key), keys, now, before);
  await storage.atomically(
    before === undefined
      ? write(insertDestination, stored)
      : write(updateDestination, { ...stored, before: before.updatedAt }),
  );
}

function stateOf(
  url: string,
  secret: string,
  keys: KeyRing,
  now: Date,
  before: StoredDestination | undefined,
): StoredDestination {
  return {
    ...destinationDefaults,
    ownerId: null,
    maxConcurrent: 16,
    headerNames: null,
    tokenUrl: null,
    createdAt: now,
    failures: 0,
    openUntil: null,
    failingSince: null,
    disabledReason: null,
    ...before,
    ...operatorGateway,
    format: "cloudevents",
    transport: "http",
    url: shownUrl(url),
    // An admin's own pause or disable stays.
    state: before === undefined || before.url === notSet ? "active" : before.state,
    updatedAt: now,
    sealed: sealSecrets(keys, operatorGateway.id, {
      url,
      secret,
      previous: null,
      headers: before === undefined ? {} : headersOf(keys, before),
      tokenUrl: null,
    }),
  };
}

/** The headers of its own. None if their key is lost: everything else is sealed with the current one. */
function headersOf(keys: KeyRing, before: StoredDestination): DestinationSecrets["headers"] {
  try {
    return openSecrets(keys, before).headers;
  } catch (error) {
    if (error instanceof MissingKeyError) return {};
    throw error;
  }
}

/** Seals the secrets of all destinations with the current key, so that previous keys can be removed. */
export async function resealDestinations(storage: Storage, keys: KeyRing): Promise<void> {
  const [current] = keyIds([keys[0]]);
  for (const stored of await storage.all(allDestinations, {})) {
    const sealedWith = sealingKey(stored.sealed);
    if (sealedWith === current || !keyIds(keys).has(sealedWith)) continue;
    const sealed = sealSecrets(keys, stored.id, openSecrets(keys, stored));
    const next = { ...stored, sealed, before: stored.updatedAt };
    await storage.atomically(write(updateDestination, next));
  }
}

/** The settings define the operator gateway; only its filter, order, limits and state can be changed. */
export function requireNotOfSettings({ id, url }: Destination, changes: DestinationChanges): void {
  if (id !== operatorGateway.id) return;
  if (url === notSet && (changes.state ?? "disabled") !== "disabled") {
    throw invalid("/state", "Set OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET first");
  }
  const [fixed] = ["name", "format", "transport", "url", "secret", "tokenUrl"].filter(
    (field) => field in changes,
  );
  if (fixed === undefined) return;
  throw invalid(`/${fixed}`, "Change OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET instead");
}
