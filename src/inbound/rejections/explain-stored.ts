import type { StoredRejection } from "../model/rejection.ts";
import { meantProvider } from "../providers/brand.ts";
import type { Registry } from "../providers/registry.ts";

import { explain, type Known } from "./explain.ts";
import type { Explanation } from "./explanation.ts";

/** Explains a stored rejection, by default with the current secrets. */
export async function explainStored(
  registry: Registry,
  rejection: StoredRejection,
  secrets: Known["secrets"] = registry.get(rejection.provider)?.secrets ?? null,
): Promise<Explanation> {
  const path = rejection.headers[":path"];
  if (path !== undefined) return { cause: "unknown-provider", detail: noProvider(registry, path) };
  const provider = registry.provider(rejection.provider);
  if (provider === undefined) {
    return { cause: "unknown", detail: "This version of Skyhook does not support the provider." };
  }
  const { reason, headers, signatures, body, bodyBytes, createdAt } = rejection;
  const { ":method": method = "POST", ":url": url = "", ...signed } = signatures;
  const known = {
    provider,
    secrets,
    others: othersThan(registry, provider.id),
    keys: registry.keys,
  };
  return explain(known, {
    reason,
    method,
    url,
    headers: new Headers({ ...headers, ...signed }),
    bytes: body,
    bodyBytes,
    receivedAtMs: createdAt.getTime(),
  });
}

/** Says what to do about a request to the path of no provider. */
function noProvider(registry: Registry, path: string): string {
  const registered = Array.from(registry, ({ provider }) => provider);
  const meant = meantProvider(path.split("/")[2] ?? "", registered);
  const advice =
    meant === null
      ? `Correct the URL at the sender, or add the provider. Registered: ${registry.ids().join(", ")}.`
      : `Did you mean ${meant}? Then set the URL at the sender to /webhooks/${meant.split(" ")[0]}.`;
  return `No provider is registered for the path ${path}, so the sender got 404. ${advice}`;
}

function othersThan(registry: Registry, id: string): Known["others"] {
  return [...registry].flatMap(({ provider, secrets }) =>
    provider.id === id || secrets === null ? [] : [{ displayName: provider.displayName, secrets }],
  );
}
