import type { KeyStore } from "../signatures/key-store.ts";
import { verifier } from "../signatures/signature.ts";
import type { Secrets, Verify } from "../signatures/signed-request.ts";

import { isChallenge } from "./handshake.ts";
import type { Provider } from "./provider.ts";

/** The verifier of a provider, which rejects each body that anyone can have signed. Throws as `verifier`. */
export function providerVerifier(
  provider: Pick<Provider, "signature" | "handshakes">,
  secrets: Secrets,
  keys: KeyStore,
): Verify {
  const verify = verifier(provider.signature, secrets, keys);
  if (!signsChallenges(provider)) return verify;
  const wrong = { rejection: "wrong-signature" } as const;
  return (request) => (isChallenge(request.bytes) ? wrong : verify(request));
}

/** Whether anyone can have the body signed, as the challenge of a handshake. */
export function isSignedForAnyone(
  provider: Pick<Provider, "handshakes">,
  body: Uint8Array,
): boolean {
  return signsChallenges(provider) && isChallenge(body);
}

function signsChallenges({ handshakes = [] }: Pick<Provider, "handshakes">): boolean {
  return handshakes.some(({ signsChallenge }) => signsChallenge);
}
