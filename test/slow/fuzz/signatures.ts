import { signatureHeaders } from "../../../src/inbound/signatures/scheme.ts";
import { verifier } from "../../../src/inbound/signatures/signature.ts";
import { providerOf } from "../../support/app.ts";

import { type Disagreement, disagreements } from "./disagreements.ts";
import { references } from "./references.ts";
import { shownBytes } from "./request.ts";
import { macSchemeOf, nowSeconds, secrets, type SignedCase, signedCases } from "./signed-case.ts";
import { target } from "./target.ts";

/** Whether our engine takes a delivery. */
export function ours({ provider, body: bytes, header }: SignedCase): boolean {
  const { signature } = providerOf(provider);
  const headers = new Headers({ [signatureHeaders(signature)[0] ?? ""]: header });
  return (
    "verified" in
    verifier(
      macSchemeOf(provider),
      secrets,
    )({ method: "POST", url: "", headers, bytes, receivedAtMs: nowSeconds * 1_000 })
  );
}

/** The listed reason for which ours and a reference judge differently; null when there is none. */
export function reasonFor(
  tried: SignedCase,
  reference: string,
  accepted: boolean,
): Disagreement | null {
  const verdict = accepted ? "accepts" : "refuses";
  return (
    disagreements.find(
      (entry) => entry.ours === verdict && entry.with === reference && entry.explains(tried),
    ) ?? null
  );
}

export const signatures = target({
  name: "signatures",
  about: "our verdicts against independent verifiers; each difference must be one we want",
  shortRuns: 1_000,
  cases: signedCases,
  show: (tried) =>
    `${tried.provider}: ${JSON.stringify(tried.header)} over ${shownBytes(tried.body)}`,
  async check(tried) {
    const accepted = ours(tried);
    for (const { name, providers, accepts } of references) {
      if (!providers.includes(tried.provider)) continue;
      if ((await accepts(tried)) === accepted) continue;
      if (reasonFor(tried, name, accepted) !== null) continue;
      throw new Error(
        `Only ${accepted ? "ours" : name} takes it, and no listed reason explains why`,
      );
    }
  },
});
