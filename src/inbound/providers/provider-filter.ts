import { nearest } from "../../base/nearest.ts";
import { invalidParameter } from "../../base/parameters.ts";
import type { Storage } from "../../db/storage.ts";
import { eventOf, rejectionOf } from "../stored-provider.sql.ts";

import { catalogue } from "./catalogue.ts";
import type { Registry } from "./registry.ts";

/**
 * Throws `invalid-parameter` for an unknown provider, so that a typing error is not an empty list. Known are the
 * registered and built-in providers, Skyhook's own sources, and those of which something is stored: a provider that
 * was removed from the settings can still be searched for. Undefined: no filter.
 */
export type CheckProvider = (id: string | undefined) => Promise<void>;

/** A name that differs from a known one by at most this many letters is a typing error. */
const maxEdits = 3;

/** `own`: the sources of events that are not webhooks. */
export function providerFilter(
  storage: Pick<Storage, "all">,
  registry: Pick<Registry, "ids">,
  own: readonly string[],
): CheckProvider {
  const builtIn = catalogue.map(({ id }) => id);
  return async (id) => {
    if (id === undefined) return;
    const known = [...registry.ids(), ...builtIn, ...own];
    if (known.includes(id) || (await isStored(storage, id))) return;
    const near = branded(id) ?? nearest(id, known, maxEdits);
    throw invalidParameter(
      "provider",
      near === null
        ? "No provider has this id. GET /v1/providers lists them"
        : `No provider has this id. Did you mean ${near}?`,
    );
  };
}

/** The built-in provider of a service: `github` is `code_host`, whose name is `Code host (GitHub)`. */
function branded(service: string): string | null {
  const name = `(${service.toLowerCase()})`;
  const found = catalogue.find(({ displayName }) => displayName.toLowerCase().endsWith(name));
  return found?.id ?? null;
}

/** Takes two index lookups, so only names that are not registered or built in are looked up. */
async function isStored(storage: Pick<Storage, "all">, provider: string): Promise<boolean> {
  const [event] = await storage.all(eventOf, { provider });
  if (event !== undefined) return true;
  const [rejection] = await storage.all(rejectionOf, { provider });
  return rejection !== undefined;
}
