import type { Provider } from "../providers/provider.ts";
import type { RejectionReason } from "../rejection.ts";
import type { SignatureRejection, SignatureScheme } from "../signatures/signature.ts";
import type { RejectedDelivery } from "./explanation.ts";

/** Why a delivery did not verify: the verifier's reason, or that it uses another signature scheme. */
export function reasonFor(
  { foreignHeaders = [] }: Pick<Provider, "foreignHeaders">,
  headers: Headers,
  rejection: SignatureRejection,
): RejectionReason {
  return foreignHeaders.some((name) => headers.has(name)) ? "unsupported-scheme" : rejection;
}

/** Says what a reason means for this delivery, and what to check. */
export function advice(
  reason: RejectionReason,
  provider: Provider,
  { headers, bodyBytes }: Pick<RejectedDelivery, "headers" | "bodyBytes">,
): string {
  const { signature, maxBodyBytes } = provider;
  const sent = [...headers.keys()].join(", ") || "none";
  const names = signature.headers.join(" or ");
  switch (reason) {
    case "missing-signature":
      return `The delivery has no signature. Expected header: ${names}. Headers sent: ${sent}. Check that the webhook has a secret at the provider, and that no proxy removes the header.`;
    case "several-signatures":
      return "The delivery has more than one signature. Check that no proxy repeats the header.";
    case "malformed-signature":
      return `The signature is not ${formOf(signature)}. Check that the right header was copied completely and unchanged.`;
    case "wrong-signature":
      return "The signature was made with another secret or for another body. Check that the secret is that of this webhook, without added white space, and that no proxy, parser or editor changed the body.";
    case "missing-timestamp":
      return "The signature header has no t=<unix seconds>. Check that it was copied completely.";
    case "stale-timestamp":
      return `The signature is valid, but its time is ${tooFar(signature)} the time of receipt. For a saved delivery, set the time of receipt with --at. Otherwise check this machine's clock.`;
    case "unsupported-scheme":
      return `This is another kind of webhook of the same service (${(provider.foreignHeaders ?? []).join(", ")}). Set up the kind that signs with ${names}${provider.setUp === undefined ? "" : `: ${provider.setUp}`}.`;
    case "body-too-large":
      return `The body has ${bodyBytes} bytes; the limit is ${maxBodyBytes}. Have the provider send less data.`;
    case "unsupported-encoding":
      return "The body is compressed (Content-Encoding). Check that no proxy compresses requests.";
  }
}

/** The scheme may have changed since the rejection, and may no longer have a time. */
function tooFar(scheme: SignatureScheme): string {
  if (scheme.signed !== "timestamp-dot-raw") return "too far from";
  return `more than ${scheme.toleranceSeconds} s from`;
}

/** Describes the form of a provider's signature. */
export function formOf({ algorithm, encoding, prefix, signed }: SignatureScheme): string {
  const bytes = algorithm === "sha1" ? 20 : 32;
  const form =
    encoding === "hex"
      ? `${bytes * 2} lower-case hex digits`
      : `base64 of ${bytes} bytes (${Math.ceil(bytes / 3) * 4} characters)`;
  if (signed === "timestamp-dot-raw") return `of the form t=<unix seconds>,v1=<${form}>`;
  return prefix === undefined ? form : `"${prefix}" followed by ${form}`;
}
