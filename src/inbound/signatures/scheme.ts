import { oneOrMore, type Places } from "../../base/place.ts";

import type {
  BasicAuthScheme,
  HmacScheme,
  JwtScheme,
  PublicKeyScheme,
  SharedSecretScheme,
  TextScheme,
  UrlScheme,
} from "./scheme.schema.ts";
import { coversForm, signedPlace } from "./signed-text.ts";

/** How a provider proves that a request comes from it, as data. The engine in `signature.ts` interprets it. */
export type SignatureScheme =
  HmacScheme | PublicKeyScheme | JwtScheme | SharedSecretScheme | BasicAuthScheme | UrlScheme;

export function isTextScheme(scheme: SignatureScheme): scheme is TextScheme {
  return "signs" in scheme;
}

/** The place of a secret that is the end of the URL. No file can name it. */
export const urlEndPlace = "url";

/** The places of the signature, in order of preference. */
export function signaturePlaces(scheme: SignatureScheme): readonly string[] {
  if (scheme.kind === "basic-auth") return ["header.authorization"];
  if (scheme.kind === "url") return [urlEndPlace];
  return oneOrMore(scheme.from);
}

/** The headers that prove the origin, in lower case. Their values are secret or valid for a body. */
export function signatureHeaders(scheme: SignatureScheme): readonly string[] {
  return signaturePlaces(scheme).flatMap((place) => headerIn(place) ?? []);
}

/**
 * The headers of a public-key signature and of what it covers. They are stored with the event, because only the service
 * can sign and the signature is no secret. Empty for JWTs, which are credentials until they expire.
 */
export function publicSignatureHeaders(scheme: SignatureScheme): readonly string[] {
  if (!isTextScheme(scheme) || scheme.kind === "hmac") return [];
  return [...signatureHeaders(scheme), ...readHeadersOf(scheme)];
}

/** The scheme with its signature in this header only, and the id and the time in those of the same set. */
export function signedUnder(scheme: SignatureScheme, header: string): SignatureScheme {
  if (scheme.kind === "basic-auth" || scheme.kind === "url") return scheme;
  const from = `header.${header}`;
  if (!isTextScheme(scheme)) return { ...scheme, from };
  const set = signaturePlaces(scheme).indexOf(from);
  const ofSet = (places: Places | undefined) => oneOrMore(places)[set] ?? oneOrMore(places)[0];
  const [id, time] = [ofSet(scheme.id), ofSet(scheme.timestamp?.from)];
  const timestamp = scheme.timestamp && {
    ...scheme.timestamp,
    ...(time !== undefined && { from: time }),
  };
  return { ...scheme, from, ...(id !== undefined && { id }), ...(timestamp && { timestamp }) };
}

/**
 * The service's own name of the signature's header: of several, the last. The built-in providers list the neutral
 * name of Skyhook first. Null if the signature is not in a header.
 */
export function ownSignatureHeader(scheme: SignatureScheme): string | null {
  return signatureHeaders(scheme).at(-1) ?? null;
}

/** The name of the header that a place is, or null if it is another place. */
export function headerIn(place: string): string | null {
  return place.startsWith("header.") ? place.slice("header.".length) : null;
}

/** The templates of the signed text. Empty for AWS SNS's lines. */
export function signedTemplates({ signs }: TextScheme): readonly string[] {
  if (typeof signs === "string") return [signs];
  return "lines" in signs ? [] : signs;
}

/** Whether a template of the signed text has this value. */
export function namesValue(scheme: TextScheme, name: string): boolean {
  return signedTemplates(scheme).some((template) => template.includes(`{${name}}`));
}

/** The allowed difference between the signed time and now; null if the scheme has no time. */
export function toleranceOf(scheme: SignatureScheme): number | null {
  if (isTextScheme(scheme)) return scheme.timestamp?.toleranceSeconds ?? null;
  return scheme.kind === "jwt" ? (scheme.toleranceSeconds ?? null) : null;
}

/** Whether the body has the token, so that its claims can be the payload. */
export function isTokenInBody({ from }: Pick<JwtScheme, "from">): boolean {
  return from === "body" || from.startsWith("/");
}

/** Whether the secret must be kept secret: a public key or an account's name cannot sign. */
export function hasSharedSecret(scheme: SignatureScheme): boolean {
  if (hasFetchedKey(scheme)) return false;
  if (scheme.kind === "jwt") return isSymmetric(scheme);
  return scheme.kind === "hmac" || isWeak(scheme);
}

/** Whether the service publishes its key, so that only the service can sign. */
export function hasFetchedKey(scheme: SignatureScheme): boolean {
  return "key" in scheme && scheme.key !== undefined;
}

export function isSymmetric({ algorithms }: Pick<JwtScheme, "algorithms">): boolean {
  return algorithms.every((algorithm) => algorithm.startsWith("HS"));
}

/** Whether the proof covers nothing of the request: a secret that each one contains, or a token for some minutes. */
export function isWeak(scheme: SignatureScheme): boolean {
  if (scheme.kind === "jwt") return scheme.bodyHash === "none";
  return ["shared-secret", "basic-auth", "url"].includes(scheme.kind);
}

/** Whether the signature covers the URL or a part of it. */
export function signsUrl(scheme: SignatureScheme): boolean {
  if (scheme.kind === "jwt") return scheme.audience?.includes("{url}") === true;
  return (
    isTextScheme(scheme) &&
    signedTemplates(scheme).some((template) =>
      /\{(?:url(?:With(?:out)?Port)?|path|query\.[^}]*)\}/.test(template),
    )
  );
}

/** Whether the signature may cover the body as JSON without white space. */
export function signsCompactJson(scheme: SignatureScheme): boolean {
  return isTextScheme(scheme) && signedTemplates(scheme).includes("{compactJson}");
}

/**
 * Whether the signature covers the whole body, so that no byte of it can be changed. A CRC-32 does not: other bodies with the same one are easy
 * to find.
 */
export function coversBody(scheme: SignatureScheme): boolean {
  if (scheme.kind === "jwt") return !isWeak(scheme);
  if (!isTextScheme(scheme)) return false;
  const templates = signedTemplates(scheme);
  const covering = /\{(?:body|compactJson|bodySha256|form|sortedForm)\}/;
  return templates.length > 0 && templates.every((template) => covering.test(template));
}

/** Whether the signature covers each place of the body. A form can be split into other fields with the same text. */
export function coversBodyPlaces(scheme: SignatureScheme): boolean {
  return coversBody(scheme) && !coversOnlyForm(scheme);
}

/** Whether the signature may cover the fields of a form instead of its bytes. */
export function coversOnlyForm(scheme: SignatureScheme): boolean {
  return isTextScheme(scheme) && signedTemplates(scheme).some(coversForm);
}

/** The places whose values the signature covers by themselves, besides the body. */
export function signedPlaces(scheme: SignatureScheme): readonly string[] {
  if (!isTextScheme(scheme)) return [];
  const { signs, timestamp, id } = scheme;
  const named = signedTemplates(scheme).flatMap((template) =>
    Array.from(
      template.matchAll(/\{((?:header\.|query\.|\/)[^{}]*)\}/g),
      ([, name = ""]) => signedPlace(name).place,
    ),
  );
  const lines = typeof signs === "object" && "lines" in signs ? signs.lines : [];
  return [
    ...named,
    ...lines,
    ...(namesValue(scheme, "id") ? oneOrMore(id) : []),
    ...(namesValue(scheme, "timestamp") ? oneOrMore(timestamp?.from) : []),
  ];
}

/** Whether the signature covers what is at a place: by itself, with the URL or with the body. */
export function coversPlace(scheme: SignatureScheme, place: string): boolean {
  if (signedPlaces(scheme).includes(place)) return true;
  if (place.startsWith("query."))
    return isTextScheme(scheme) && signedTemplates(scheme).every((text) => text.includes("{url"));
  return headerIn(place) === null && coversBodyPlaces(scheme);
}

/** Where the signed time is. Part of a signature or of a token, it is at their places. */
export function timePlacesOf(scheme: SignatureScheme): readonly string[] {
  if (isTextScheme(scheme)) {
    const { timestamp } = scheme;
    if (timestamp === undefined) return [];
    return timestamp.from === undefined ? signaturePlaces(scheme) : oneOrMore(timestamp.from);
  }
  return scheme.kind === "jwt" ? signaturePlaces(scheme) : [];
}

/** Whether verification reads members of the payload, before it is known who sent it. */
export function readsPayload(scheme: SignatureScheme): boolean {
  return pointersOf(scheme).length > 0;
}

/** The JSON pointers (RFC 6901) to what verification reads of the payload; "" for the whole. */
export function pointersOf(scheme: SignatureScheme): readonly string[] {
  const { id, timestamp } = isTextScheme(scheme) ? scheme : {};
  const key = "key" in scheme ? scheme.key?.from : undefined;
  const account = "secretAt" in scheme ? scheme.secretAt : undefined;
  const places = [
    ...signaturePlaces(scheme),
    ...signedPlaces(scheme),
    ...oneOrMore(id),
    ...oneOrMore(timestamp?.from),
    key,
    account,
  ];
  return places.flatMap((place) => {
    if (place === "payload") return [""];
    return place?.startsWith("/") === true ? [place] : [];
  });
}

/** The headers that verification reads besides those that prove the origin, in lower case. */
export function readHeadersOf(scheme: SignatureScheme): readonly string[] {
  const { id, timestamp } = isTextScheme(scheme) ? scheme : {};
  const key = "key" in scheme ? scheme.key : undefined;
  const secret = secretPlacesOf(scheme);
  const places = [
    ...signedPlaces(scheme),
    ...oneOrMore(id),
    ...oneOrMore(timestamp?.from),
    key?.from,
  ];
  const read = places.filter((place) => place !== undefined && !secret.includes(place));
  return [...new Set(read.flatMap((place) => headerIn(place ?? "") ?? []))];
}

/** The places that hold a signature or the secret: nothing may copy their values. */
export function secretPlacesOf(scheme: SignatureScheme): readonly string[] {
  const account = "secretAt" in scheme ? scheme.secretAt : undefined;
  return [...signaturePlaces(scheme), ...(account === undefined ? [] : [account])];
}
