import { compactJson } from "../webhooks/compact-json.ts";
import type { Provider } from "../webhooks/provider.ts";
import type { RejectionReason } from "../webhooks/rejection.ts";
import {
  type Secrets,
  type SignatureScheme,
  type SignedRequest,
  verifier,
} from "../webhooks/signature.ts";

/** What a reason means for this delivery, and what to check. */
export function advice(
  reason: RejectionReason,
  provider: Provider,
  { headers, bytes }: SignedRequest,
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
      return `the signature is right, but its time is more than ${signature.toleranceSeconds ?? 0} s from the time of arrival. For a delivery that was kept, say by --at when it came; else check this machine's clock`;
    case "unsupported-scheme":
      return `this is another kind of webhook of the same service (${(provider.foreignHeaders ?? []).join(", ")}). Set up the kind that signs by ${names}; for shared_inbox, a rule with "trigger a webhook"`;
    case "body-too-large":
      return `the body has ${bytes.length} bytes, and ${maxBodyBytes} are allowed`;
    case "unsupported-encoding":
      return "the body is compressed (Content-Encoding). Check that no proxy compresses requests";
  }
}

function formOf({ algorithm, encoding, prefix, signed }: SignatureScheme): string {
  const bytes = algorithm === "sha1" ? 20 : 32;
  const form =
    encoding === "hex"
      ? `${bytes * 2} lower-case hex digits`
      : `base64 of ${bytes} bytes (${Math.ceil(bytes / 3) * 4} characters)`;
  if (signed === "timestamp-dot-raw") return `of the form t=<unix seconds>,v1=<${form}>`;
  return prefix === undefined ? form : `"${prefix}" and ${form}`;
}

/**
 * Tries what commonly goes wrong, and says which of it makes the delivery verify; null when none does.
 * Only for someone who has the secret anyway.
 */
export function likelyCause(
  { signature }: Provider,
  secrets: Secrets,
  request: SignedRequest,
): string | null {
  const verifies = (bytes: Uint8Array, current = secrets.current) =>
    current !== "" &&
    "verified" in
      verifier(signature, { current, previous: secrets.previous })({ ...request, bytes });
  if (verifies(request.bytes, secrets.current.trim())) {
    return "it verifies with the white space around the secret taken off";
  }
  const found = alterations.find(({ undo }) => verifies(undo(request.bytes)));
  return found === undefined ? null : `it verifies ${found.what}`;
}

/** What editors, shells and proxies do to a body, undone. */
const alterations: readonly {
  readonly what: string;
  readonly undo: (bytes: Uint8Array) => Uint8Array;
}[] = [
  {
    what: "without the line break at the end of the body: an editor or `echo` added it",
    undo: edited((text) => text.replace(/\r?\n$/, "")),
  },
  {
    what: "with a line break at the end of the body: copying lost it",
    undo: edited((text) => `${text}\n`),
  },
  {
    what: "with the body's line breaks as LF: something made them CRLF",
    undo: edited((text) => text.replaceAll("\r\n", "\n")),
  },
  {
    what: "with the body as compact JSON: something formatted it on its way",
    undo: compactJson,
  },
];

/** Edits bytes as text without touching what is no ASCII. */
function edited(edit: (text: string) => string): (bytes: Uint8Array) => Uint8Array {
  return (bytes) => Buffer.from(edit(Buffer.from(bytes).toString("latin1")), "latin1");
}
