import { invalidParameter } from "../../base/parameters.ts";
import type { Storage } from "../../db/storage.ts";
import { lastEventOf } from "../../event/events.sql.ts";
import { rejectionOf } from "../model/stored-provider.sql.ts";

import { meantProvider } from "./brand.ts";
import { catalogue } from "./catalogue.ts";
import type { Registered } from "./registry.ts";

/**
 * Throws `invalid-parameter` for an unknown provider, so that a typing error is not an empty list. Known are the
 * registered and built-in providers, Skyhook's own sources, and those of which something is stored: a provider that
 * was removed from the settings can still be searched for. Undefined: no filter.
 */
export type CheckProvider = (id: string | undefined) => Promise<void>;

/** `own`: the sources of events that are not webhooks. */
export function providerFilter(
  storage: Pick<Storage, "all">,
  registry: Iterable<Pick<Registered, "provider">>,
  own: readonly string[],
): CheckProvider {
  const sources = own.map((id) => ({ id, displayName: id }));
  return async (id) => {
    if (id === undefined) return;
    const registered = Array.from(registry, ({ provider }) => provider);
    const known = [...registered, ...catalogue, ...sources];
    if (known.some((each) => each.id === id) || (await isStored(storage, id))) return;
    const near = meantProvider(id, known);
    throw invalidParameter(
      "provider",
      near === null
        ? "No provider has this id. GET /v1/providers lists them"
        : `No provider has this id. Did you mean ${near}?`,
    );
  };
}

/** Takes two index lookups, so only names that are not registered or built in are looked up. */
async function isStored(storage: Pick<Storage, "all">, provider: string): Promise<boolean> {
  const [event] = await storage.all(lastEventOf, { provider });
  return event !== undefined || (await storage.all(rejectionOf, { provider })).length > 0;
}
