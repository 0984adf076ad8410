import { oneOrMore } from "../../base/place.ts";
import type { RejectionReason } from "../model/rejection.ts";
import { maxItems } from "../providers/interpret.ts";
import type { Provider } from "../providers/provider.ts";
import {
  headerIn,
  isTextScheme,
  isWeak,
  signaturePlaces,
  type SignatureScheme,
  signedPlaces,
  toleranceOf,
} from "../signatures/scheme.ts";
import type { SignatureRejection } from "../signatures/signed-request.ts";
import { aheadSeconds } from "../signatures/signed-time.ts";

import type { RejectedRequest } from "./explanation.ts";
import { formOf, timeForm } from "./form.ts";

/** Why a request did not verify: the verifier's reason, or that it uses another signature scheme. */
export function reasonFor(
  { foreignHeaders = [] }: Pick<Provider, "foreignHeaders">,
  headers: Headers,
  rejection: SignatureRejection,
): RejectionReason {
  return foreignHeaders.some((name) => headers.has(name)) ? "unsupported-scheme" : rejection;
}

/** Says what a reason means for this request, and what to check. */
export function advice(
  reason: RejectionReason,
  provider: Provider,
  { headers, bodyBytes }: Pick<RejectedRequest, "headers" | "bodyBytes">,
): string {
  const { signature, maxBodyBytes } = provider;
  const sent = [...headers.keys()].join(", ") || "none";
  const names = signaturePlaces(signature)
    .map((place) => headerIn(place) ?? place)
    .join(" or ");
  switch (reason) {
    case "missing-signature":
      if (signature.kind === "url")
        return "The URL has no secret. At the sender, enter the URL with the secret at its end.";
      return `The webhook has no signature. Expected header: ${names}. Headers sent: ${sent}. Check that it has a secret at the provider, and that no proxy removes the header.`;
    case "several-signatures":
      return "The webhook has more than one signature. Check that no proxy repeats the header.";
    case "malformed-signature":
      return `The signature is not ${formOf(signature)}. Check that the right header was copied completely and unchanged.`;
    case "wrong-signature":
      if (signature.kind === "jwt")
        return "The token was signed with another key, for another audience or account, or for another body. Check the secret, and that PUBLIC_URL and the URL at the provider are the same.";
      if (isWeak(signature))
        return "The secret in the webhook is not the configured one. Check that both are the same.";
      return "The signature was made with another secret or for another body. Check that the secret is that of this webhook, without added white space, and that no proxy, parser or editor changed the body.";
    case "missing-timestamp":
      return `${timePlace(signature)}. Check that it was copied completely.`;
    case "missing-signed-value":
      return `The signature covers values that the webhook does not have (${signedPlaces(signature).join(", ")}). Headers sent: ${sent}. Check that no proxy removes them.`;
    case "untrusted-key":
      return "The webhook names a key that is not the service's: its URL is not one that keys are fetched from, or the service has no such key. It is probably forged.";
    case "stale-timestamp":
      return `The signature is valid, but its time is ${tooFar(signature)} the time of receipt. For a saved webhook, set the time of receipt with --at. Otherwise check this machine's clock.`;
    case "unsupported-scheme":
      return `This is another kind of webhook of the same service (${(provider.foreignHeaders ?? []).join(", ")}). Set up the kind that signs with ${names}.${provider.setUp === undefined ? "" : ` ${provider.setUp}`}`;
    case "body-too-large":
      return `The body has ${bodyBytes} bytes; the limit is ${maxBodyBytes}. Have the provider send less data.`;
    case "too-many-items":
      return `The delivery holds more than ${maxItems} events. Have the provider send fewer in each delivery.`;
    case "unsupported-encoding":
      return "The body is compressed (Content-Encoding). Check that no proxy compresses requests.";
    case "unknown-provider":
      return "No provider is registered for the path. Correct the URL at the sender.";
    default:
      return ofNewerVersion(reason);
  }
}

/** During a rolling upgrade, another instance may store a reason that this version does not know. */
function ofNewerVersion(reason: never): string {
  return `A newer version of Skyhook rejected the webhook, for the reason ${String(reason)}. Upgrade this instance, then open the rejection again.`;
}

/** The scheme may have changed since the rejection, and may no longer have a time. */
function tooFar(scheme: SignatureScheme): string {
  const seconds = toleranceOf(scheme);
  if (seconds === null) return "too far from";
  const ahead = aheadSeconds(seconds);
  return ahead === seconds
    ? `more than ${seconds} s from`
    : `more than ${seconds} s before, or ${ahead} s after,`;
}

/** Where the signed time is expected. */
function timePlace(scheme: SignatureScheme): string {
  if (!isTextScheme(scheme)) return "The token has no time (`iat`)";
  const { from } = scheme.timestamp ?? {};
  return from === undefined
    ? `The signature header has no ${timeForm(scheme.timestamp)}`
    : `The webhook has no signed time (${oneOrMore(from).join(" or ")})`;
}
