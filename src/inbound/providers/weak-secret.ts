import { sameText } from "../../base/crypto.ts";
import { hasSharedSecret } from "../signatures/scheme.ts";
import { isDocumentedSecret, leastSecretLength } from "../signatures/weak-secret.ts";

import type { Provider } from "./provider.ts";
import type { Registered } from "./registry.ts";

/** Why others can guess or know a secret. */
export type Weakness =
  | { readonly reason: "short" | "documented" }
  /** `owner`: the other provider that has the same secret. */
  | { readonly reason: "shared"; readonly owner: Provider };

/** Null if only the service and this server know the secret, or it may be public. */
export function weaknessOf(
  secret: string,
  { id, signature }: Pick<Provider, "id" | "signature">,
  registered: Iterable<Registered>,
): Weakness | null {
  if (!hasSharedSecret(signature)) return null;
  if (secret.length < leastSecretLength) return { reason: "short" };
  if (isDocumentedSecret(secret)) return { reason: "documented" };
  for (const { provider, secrets } of registered) {
    if (provider.id === id || secrets === null || !hasSharedSecret(provider.signature)) continue;
    const { current, previous } = secrets;
    const isSame = sameText(secret, current) || (previous !== null && sameText(secret, previous));
    if (isSame) return { reason: "shared", owner: provider };
  }
  return null;
}
