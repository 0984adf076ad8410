import { ownTurns } from "../../base/own-turn.ts";
import type { PublicKeyScheme } from "../signatures/scheme.schema.ts";
import type { SignedRequest, Verify } from "../signatures/verification.ts";

import { bodyAlterations } from "./alterations.ts";
import type { Explanation } from "./explanation.ts";
import { alteredUrls, urlChanged } from "./url-alterations.ts";

/** As for `searchMac`. */
const ownTurn = ownTurns();

/** The first change that makes a signature with a public key right, or null if none does. */
export async function searchKey(
  scheme: PublicKeyScheme,
  verify: Verify,
  request: SignedRequest,
): Promise<Explanation | null> {
  const isRight = async (altered: SignedRequest) => {
    await ownTurn();
    return "verified" in (await verify(altered));
  };
  for (const { cause, detail, undo } of bodyAlterations) {
    for (const bytes of undo(request.bytes)) {
      if (await isRight({ ...request, bytes })) return { cause, detail };
    }
  }
  for (const url of alteredUrls(scheme, request)) {
    if (await isRight({ ...request, url })) return urlChanged(url, request.url);
  }
  return null;
}
