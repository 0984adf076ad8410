import { errorMessage } from "../../base/errors.ts";
import { invalid } from "../../base/validation.ts";

import type { SignatureScheme } from "./scheme.ts";
import { verifier } from "./signature.ts";

/** A secret or key longer than this is a mistake. An RSA public key of 4096 bits has 800 characters. */
export const maxSecretCharacters = 16 * 1024;

/** Throws `validation-failed` if the scheme cannot use the secret that a body gives, such as one that is no public key. */
export function requireUsable(scheme: SignatureScheme, secret: string): void {
  try {
    verifier(scheme, { current: secret, previous: null });
  } catch (error) {
    throw invalid("/secret", `The secret ${errorMessage(error)}`);
  }
}
