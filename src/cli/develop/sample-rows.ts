import { pointerKeys } from "../../base/place.ts";
import type { Provider, Sample } from "../../inbound/providers/provider.ts";
import { signedSample } from "../../inbound/providers/signed-sample.ts";
import {
  developmentSecret,
  newKeyPair,
  signingKeyWith,
} from "../../inbound/signatures/development-secret.ts";
import { kindOf } from "../../inbound/signatures/jwt.ts";
import { type KeyStore, noKeys } from "../../inbound/signatures/key-store.ts";
import type { SigningKey } from "../../inbound/signatures/keys.ts";
import {
  coversBody,
  hasFetchedKey,
  headerIn,
  signaturePlaces,
  type SignatureScheme,
  toleranceOf,
} from "../../inbound/signatures/scheme.ts";
import { verifier } from "../../inbound/signatures/signature.ts";
import type { Secrets, SignedRequest } from "../../inbound/signatures/signed-request.ts";
import { aheadSeconds } from "../../inbound/signatures/signed-time.ts";

/** The values that replace those of the running service. */
interface Stand {
  readonly key: SigningKey;
  readonly keys: KeyStore;
}

/** A change of a signed sample, and the outcomes that are right. */
type Row = readonly [behaviour: string, expected: RegExp, change: Partial<Attempt>];

interface Attempt extends SignedRequest {
  readonly secrets: Secrets;
  readonly keys: KeyStore;
}

const rejected = /^(?!current$|previous$)/;
const url = "https://hooks.example.com/webhooks/test";

/** Judges changes of one signed sample. Returns the number of attempts and a line for each wrong judgement. */
export async function checkSample(
  provider: Provider,
  sample: Sample,
): Promise<{ readonly attempts: number; readonly failures: readonly string[] }> {
  const { signature: scheme, secretPrefix } = provider;
  const [right, other] = [standFor(scheme, secretPrefix), standFor(scheme, secretPrefix)];
  const now = new Date();
  const fresh = { id: crypto.randomUUID(), now };
  const { headers, bytes, urlEnd } = signedSample(provider, sample, right.key, fresh, { url });
  const signed: Attempt = {
    method: "POST",
    url: url + urlEnd,
    headers: new Headers(headers),
    bytes,
    receivedAtMs: now.getTime(),
    secrets: { current: right.key.secret, previous: null },
    keys: right.keys,
  };
  const rows: readonly Row[] = [
    ["as signed", /^current$/, {}],
    ...secretRows(scheme, right, other),
    ...placeRows(scheme, signed),
    ...timeRows(scheme, signed),
    ...(coversBody(scheme)
      ? [["with one more byte", rejected, { bytes: Buffer.concat([bytes, more]) }] as const]
      : []),
  ];
  const failures: string[] = [];
  for (const [behaviour, expected, change] of rows) {
    const outcome = await outcomeOf(scheme, { ...signed, ...change });
    if (!expected.test(outcome)) failures.push(`${behaviour} it is ${outcome}`);
  }
  return { attempts: rows.length, failures };
}

/** Changes JSON, a form and a token. */
const more = Buffer.from("1");

async function outcomeOf(
  scheme: SignatureScheme,
  { secrets, keys, ...request }: Attempt,
): Promise<string> {
  const result = await verifier(scheme, secrets, keys)(request);
  return "verified" in result ? result.verified.signedWith : result.rejection;
}

/** A service with keys of its own. */
function standFor(scheme: SignatureScheme, prefix: string | undefined): Stand {
  const made = developmentSecret(scheme, prefix);
  if (made !== null) return { key: signingKeyWith(made), keys: noKeys };
  // The service publishes its key. What is configured is an account.
  const { publicKey, privateKey } = newKeyPair(publishedKind(scheme));
  const key = { secret: `account:${crypto.randomUUID()}`, privateKey };
  return { key, keys: { find: () => [{ key: publicKey, alg: null }], confirm() {} } };
}

function publishedKind(scheme: SignatureScheme) {
  if (scheme.kind === "jwt") return kindOf(scheme);
  if ("key" in scheme) return scheme.kind;
  throw new Error("Only schemes with public keys have published ones");
}

function secretRows(scheme: SignatureScheme, right: Stand, other: Stand): readonly Row[] {
  const wrong = { current: other.key.secret, previous: null };
  if (hasFetchedKey(scheme))
    return [["with another published key", rejected, { keys: other.keys }]];
  const rotated = { current: other.key.secret, previous: right.key.secret };
  return [
    ["with the previous secret", /^previous$/, { secrets: rotated }],
    ["with another secret", rejected, { secrets: wrong }],
  ];
}

/** A signature that is missing, empty, changed or sent twice. */
function placeRows(scheme: SignatureScheme, signed: Attempt): readonly Row[] {
  const places = signaturePlaces(scheme);
  const isSent = (each: string) => signed.headers.has(headerIn(each) ?? "none");
  const place = places.find(isSent) ?? places[0] ?? "";
  const name = headerIn(place);
  if (name !== null) {
    const value = signed.headers.get(name) ?? "";
    const sent = (...values: readonly string[]) => {
      const headers = new Headers(signed.headers);
      headers.delete(name);
      for (const each of values) headers.append(name, each);
      return { headers };
    };
    return [
      ["without its signature", /^missing-signature$/, sent()],
      ["with an empty signature", rejected, sent("")],
      ["with a changed signature", rejected, sent(changed(value))],
      // A header that holds a list may be sent in parts.
      ...("items" in scheme && scheme.items !== undefined
        ? []
        : [["with its signature and another", rejected, sent(value, changed(value))] as const]),
    ];
  }
  if (place.startsWith("query.")) {
    const sent = (change: (value: string) => string) => {
      const at = new URL(signed.url);
      const member = place.slice("query.".length);
      at.searchParams.set(member, change(at.searchParams.get(member) ?? ""));
      return { url: at.href };
    };
    return [
      ["without its signature", /^missing-signature$/, { url }],
      ["with an empty signature", rejected, sent(() => "")],
      ["with a changed signature", rejected, sent(changed)],
    ];
  }
  if (!place.startsWith("/")) return [];
  const keys = pointerKeys(place);
  const replaced = (replace: (value: string) => unknown) => {
    const body: unknown = JSON.parse(signed.bytes.toString());
    setAt(body, keys, replace);
    return { bytes: Buffer.from(JSON.stringify(body)) };
  };
  return [
    ["without its signature", /^missing-signature$/, replaced(() => undefined)],
    ["with an empty signature", rejected, replaced(() => "")],
    ["with a changed signature", rejected, replaced(changed)],
    ["with a signature that is a list", rejected, replaced((value) => [value])],
  ];
}

function timeRows(scheme: SignatureScheme, { receivedAtMs }: Attempt): readonly Row[] {
  const toleranceSeconds = toleranceOf(scheme);
  if (toleranceSeconds === null) return [];
  // The signed time may be in whole seconds.
  const at = (seconds: number) => ({ receivedAtMs: receivedAtMs + seconds * 1_000 });
  const stale = /^stale-timestamp$/;
  return [
    ["almost too old", /^current$/, at(toleranceSeconds - 1)],
    ["too old", stale, at(toleranceSeconds + 2)],
    ["too far ahead", stale, at(-aheadSeconds(toleranceSeconds) - 2)],
  ];
}

/** Changes a letter or digit in the middle: the last one of base64 may have bits that mean nothing. */
function changed(text: string): string {
  const half = Math.floor(text.length / 2);
  const at = half + Math.max(0, text.slice(half).search(/[a-zA-Z0-9]/));
  return text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);
}

function setAt(value: unknown, keys: readonly string[], replace: (value: string) => unknown): void {
  const [key = "", ...deeper] = keys;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return;
  // Guarantee: an object with this key of its own.
  const object = value as Record<string, unknown>;
  if (deeper.length > 0) setAt(object[key], deeper, replace);
  else object[key] = replace(String(object[key]));
}
