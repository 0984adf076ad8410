import type { JsonObject } from "../../base/payload.ts";
import { oneOrMore, pointerKeys, valueAt } from "../../base/place.ts";
import type { SigningKey } from "../signatures/keys.ts";
import {
  headerIn,
  isTextScheme,
  signaturePlaces,
  type SignatureScheme,
  signedUnder,
  urlEndPlace,
} from "../signatures/scheme.ts";
import { type Addition, preparations, signature } from "../signatures/sign.ts";

import { isOpaque } from "./interpret.ts";
import type { Fresh, Provider, Sample } from "./provider.ts";

/** A sample request with its signature, ready to post. */
export interface SignedSample {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer<ArrayBuffer>;
  /** What to append to the URL: the secret that it ends with, and what the service adds to the query. Else empty. */
  readonly urlEnd: string;
}

interface SigningOptions {
  /** The signed time, if the scheme has one. Default: that of the sample. */
  readonly signedAtMs?: number;
  /** The URL as the provider knows it, if the scheme signs it. */
  readonly url?: string;
}

/** Signs a sample as its provider would, following the specification's test procedure. */
export function signedSample(
  provider: Pick<Provider, "signature" | "payload" | "formField">,
  sample: Sample,
  key: SigningKey,
  fresh: Fresh,
  { signedAtMs = fresh.now.getTime(), url = "" }: SigningOptions = {},
): SignedSample {
  const { payload: format } = provider;
  const { headers, query = {}, body } = sample(fresh);
  const scheme = schemeWithin(provider.signature, headers);
  const prepared = preparations(scheme, key, signedAtMs);
  const all = { ...headers, ...headersOf(prepared) };
  const payload = withMembers(body, prepared);
  const bytes = encoded(provider, payload);
  const queryWith = (added: readonly Addition[]) => queryOf({ ...query, ...queryMembers(added) });
  const unsigned = { method: "POST", url: url + queryWith(prepared), headers: all, bytes };
  const signed = signature(scheme, key, unsigned, signedAtMs);
  return {
    headers: { "content-type": contentTypes[format ?? "object"], ...all, ...headersOf([signed]) },
    bytes: withSignature(provider, payload, bytes, signed),
    urlEnd: pathEnd(signed) + queryWith([...prepared, signed]),
  };
}

/** Of several sets of headers, the one that the sample has the id of. */
function schemeWithin(scheme: SignatureScheme, headers: SignedSample["headers"]): SignatureScheme {
  const ids = isTextScheme(scheme) ? oneOrMore(scheme.id) : [];
  const set = ids.findIndex((place) => Object.hasOwn(headers, headerIn(place) ?? ""));
  const header = headerIn(signaturePlaces(scheme)[set] ?? "");
  return header === null ? scheme : signedUnder(scheme, header);
}

/** The content type of each form of payload. */
export const contentTypes = {
  object: "application/json",
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  jwt: "application/jwt",
  text: "text/plain; charset=utf-8",
  xml: "application/xml",
  bytes: "application/octet-stream",
} as const;

function headersOf(added: readonly Addition[]): Record<string, string> {
  const pairs = added.map(({ place, value }) => [headerIn(place), value] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[0] !== null));
}

function pathEnd({ place, value }: Addition): string {
  return place === urlEndPlace ? `/${value}` : "";
}

function queryMembers(added: readonly Addition[]): Record<string, string> {
  const members = added
    .filter(({ place }) => place.startsWith("query."))
    .map(({ place, value }) => [place.slice("query.".length), value] as const);
  return Object.fromEntries(members);
}

function queryOf(members: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams({ ...members }).toString();
  return text && `?${text}`;
}

type Encoding = Pick<Provider, "payload" | "formField">;

function encoded({ payload: format, formField }: Encoding, payload: JsonObject) {
  if (isOpaque(format)) return Buffer.from(String(payload["text"]));
  const json = JSON.stringify(payload);
  if (format !== "form") return Buffer.from(json);
  const fields = new URLSearchParams();
  const members = formField === undefined ? payload : { [formField]: json };
  for (const [name, value] of Object.entries(members)) fields.append(name, String(value));
  return Buffer.from(fields.toString());
}

/** The body with a signature that is part of it. */
function withSignature(
  provider: Encoding & Pick<Provider, "signature">,
  payload: JsonObject,
  bytes: Buffer<ArrayBuffer>,
  signed: Addition,
): Buffer<ArrayBuffer> {
  if (signed.place !== "body" && !signed.place.startsWith("/")) return bytes;
  if (signed.place === "body") return Buffer.from(signed.value);
  // The token contains the payload; of a text, the payload contains the signature.
  const around = provider.signature.kind === "jwt" ? {} : payload;
  const isClaims = provider.payload === "jwt";
  return encoded(isClaims ? { payload: "json" } : provider, withMembers(around, [signed]));
}

/** The payload with the additions that are places in it. */
function withMembers(payload: JsonObject, added: readonly Addition[]): JsonObject {
  const copy = structuredClone(payload);
  for (const { place, value } of added) {
    if (!place.startsWith("/")) continue;
    const keys = pointerKeys(place);
    const isText = typeof valueAt(payload, keys) === "string" || !/^\d+$/.test(value);
    setAt(copy, keys, isText ? value : Number(value));
  }
  return copy;
}

/** Sets the value at a path of keys in place, with the objects on the way. The payload must be a copy. */
export function setAt(payload: JsonObject, keys: readonly string[], value: unknown): void {
  // Guarantee: a copy, which nothing else refers to.
  let object = payload as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) {
    const inner = Object.hasOwn(object, key) ? object[key] : undefined;
    const next = typeof inner === "object" && inner !== null ? inner : {};
    object[key] = next;
    // Guarantee: an object, by the line before.
    object = next as Record<string, unknown>;
  }
  object[keys.at(-1) ?? ""] = value;
}
