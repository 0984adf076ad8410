import type { Provider } from "../providers/provider.ts";
import type { RejectionReason } from "../rejection.ts";
import type { SignatureRejection, SignatureScheme } from "../signatures/signature.ts";
import type { RejectedDelivery } from "./explanation.ts";

/** Why a delivery did not verify: for want of a right signature, or because it is of another scheme. */
export function reasonFor(
  { foreignHeaders = [] }: Pick<Provider, "foreignHeaders">,
  headers: Headers,
  fault: SignatureRejection,
): RejectionReason {
  return foreignHeaders.some((name) => headers.has(name)) ? "unsupported-scheme" : fault;
}

/** What a reason means for this delivery, and what to check. */
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
      return `no signature came. Expected the header ${names}; sent: ${sent}. Check that the webhook has a secret at the provider, and that no proxy drops the header`;
    case "several-signatures":
      return "there is more than one signature. Check that no proxy repeats the header";
    case "malformed-signature":
      return `the signature is not ${formOf(signature)}. Check that the right header was copied, whole and unchanged`;
    case "wrong-signature":
      return "the signature was made with another secret or over another body. Check that the secret is the provider's (no white space, not that of another webhook), and that the body is byte for byte what was sent: a proxy, a parser or an editor may have changed it";
    case "missing-timestamp":
      return "the signature header has no t=<unix seconds>. Check that it was copied whole";
    case "stale-timestamp":
      return `the signature is right, but its time is ${tooFar(signature)} the time of arrival. For a delivery that was kept, say by --at when it came; else check this machine's clock`;
    case "unsupported-scheme":
      return `this is another kind of webhook of the same service (${(provider.foreignHeaders ?? []).join(", ")}). Set up the kind that signs by ${names}${provider.setUp === undefined ? "" : `: ${provider.setUp}`}`;
    case "body-too-large":
      return `the body has ${bodyBytes} bytes, and ${maxBodyBytes} are allowed`;
    case "unsupported-encoding":
      return "the body is compressed (Content-Encoding). Check that no proxy compresses requests";
  }
}

/** A refusal that was kept may be older than a provider's scheme. */
function tooFar(scheme: SignatureScheme): string {
  if (scheme.signed !== "timestamp-dot-raw") return "too far from";
  return `more than ${scheme.toleranceSeconds} s from`;
}

/** How a provider writes its signature, in words. */
export function formOf({ algorithm, encoding, prefix, signed }: SignatureScheme): string {
  const bytes = algorithm === "sha1" ? 20 : 32;
  const form =
    encoding === "hex"
      ? `${bytes * 2} lower-case hex digits`
      : `base64 of ${bytes} bytes (${Math.ceil(bytes / 3) * 4} characters)`;
  if (signed === "timestamp-dot-raw") return `of the form t=<unix seconds>,v1=<${form}>`;
  return prefix === undefined ? form : `"${prefix}" and ${form}`;
}
