import { oneOrMore } from "../../../../src/base/place.ts";
import { isFixedSize } from "../../../../src/inbound/signatures/encodings.ts";
import type { TextScheme } from "../../../../src/inbound/signatures/scheme.schema.ts";
import {
  headerIn,
  signaturePlaces,
  signedTemplates,
} from "../../../../src/inbound/signatures/scheme.ts";
import { verifier } from "../../../../src/inbound/signatures/signature.ts";
import type {
  SecretRole,
  Secrets,
  SignatureRejection,
  SignedRequest,
} from "../../../../src/inbound/signatures/signed-request.ts";

import { referenceText } from "./reference-text.ts";
import { testKeys } from "./test-keys.ts";

/** The result of a request: the secret that it verified with, or why it did not. */
type Outcome = SecretRole | SignatureRejection;
/** `rejected`: for any reason, where the size of signatures varies. */
type Expected = Outcome | "rejected";

/** How a request differs from a correct one. */
export interface Attempt {
  readonly body?: Uint8Array;
  /** The value of the scheme's first place. Default: a valid one for the body. Null: not sent. */
  readonly header?: string | null;
  /** All signature headers, for attempts that send more than the first. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The time, where it has a header of its own. Null: not sent. */
  readonly time?: string | null;
  /** Other headers that are signed, by name. Null: not sent. */
  readonly signed?: Readonly<Record<string, string | null>>;
  readonly url?: string;
  readonly method?: string;
  readonly secrets?: Secrets;
  readonly receivedAtMs?: number;
}

/** A request with one difference, and its expected result. */
export type Row = readonly [behaviour: string, outcome: Expected, attempt: Attempt];

export const now = 1_763_716_364;
export const today = "it was a bright cold day";
export const yesterday = "the clocks were striking thirteen";

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const joined = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
export const plain = utf8('{"id":"evt_1","note":"caf\u00e9 \u{1f6eb}","n":[1,2.50],"z":null}');

/** The URL of every request, with the parameters that the scheme signs. */
const baseUrl = "https://hooks.example.com/webhooks/test?a=1";

interface SignOptions {
  readonly secret?: string;
  readonly time?: string;
  readonly algorithm?: string;
}

/** Signs as the provider does, or with the errors that a row asks for. */
export function signer(scheme: TextScheme) {
  const keys = testKeys(scheme);
  const template = signedTemplates(scheme).at(-1) ?? "";
  const { timestamp, items, prefix = "", encoding } = scheme;
  const unit = timestamp?.unit ?? "seconds";
  const timeOf = (seconds: number): string => {
    if (unit === "iso8601") return new Date(seconds * 1_000).toISOString();
    return String(unit === "seconds" ? seconds : seconds * 1_000);
  };
  const named = [
    ...signedTemplates(scheme)
      .join("")
      .matchAll(/\{(header|query)\.([^}]+)\}/g),
  ];
  const values = (kind: string) =>
    Object.fromEntries(
      named
        .filter(([, each]) => each === kind)
        .map(([, , name = ""]) => [name, `value-of-${name}`]),
    );
  const query = new URLSearchParams(values("query")).toString();
  const url = query === "" ? baseUrl : `${baseUrl}&${query}`;
  const idHeader = headerIn(oneOrMore(scheme.id)[0] ?? "");
  const signedHeaders: Readonly<Record<string, string>> = {
    ...values("header"),
    ...(idHeader !== null && { [idHeader]: "msg_2Lml6vXCrsPnPZ1NrU2w5e0x9f1" }),
  };
  const accountHeader = "secretAt" in scheme ? headerIn(scheme.secretAt ?? "") : null;

  const keyHeader = "key" in scheme ? headerIn(scheme.key?.from ?? "") : null;

  const signedText = (body: Uint8Array, { secret = today, time = timeOf(now) }: SignOptions) =>
    referenceText(template, {
      body,
      method: "POST",
      url,
      time,
      secret: keys.of(secret).secret,
      id: idHeader === null ? "" : (signedHeaders[idHeader] ?? ""),
      headers: {
        ...signedHeaders,
        ...(accountHeader !== null && { [accountHeader]: keys.of(secret).secret }),
      },
    });
  const mac = (body: Uint8Array, options: SignOptions = {}): Buffer =>
    keys.of(options.secret ?? today).sign(signedText(body, options), options.algorithm);
  const encode = (bytes: Buffer): string => {
    const text = bytes.toString(encoding.startsWith("hex") ? "hex" : base64Of(encoding));
    return encoding === "hex-upper" ? text.toUpperCase() : text;
  };
  const value = (encoded: string, time = timeOf(now)): string => {
    if (items === undefined) return prefix + encoded;
    const list = [items.signature + encoded];
    if (timestamp?.item !== undefined) list.unshift(timestamp.item + time);
    return list.join(items.separator);
  };
  return {
    scheme,
    keys,
    timeOf,
    /** Whether the signature header holds the time. */
    timestamped: timestamp?.item !== undefined,
    /** Whether one header can hold several signatures. */
    listed: items !== undefined,
    compacts: template === "{compactJson}",
    /** Whether the signature depends on the body. */
    coversBody: /\{(?:body|bodySha256|bodyCrc32|compactJson)\}/.test(template),
    isExact: isFixedSize(scheme),
    headerName: headerIn(signaturePlaces(scheme)[0] ?? "") ?? "",
    signedHeaders,
    accountHeader,
    keyHeader,
    url,
    mac,
    encode,
    /** The header value that holds an encoded signature. */
    value,
    /** The encoded signature of a body. */
    encoded: (body: Uint8Array, options: SignOptions = {}) => encode(mac(body, options)),
    /** The header value that signs a body. */
    header: (body: Uint8Array, options: SignOptions = {}) =>
      value(encode(mac(body, options)), options.time),
    /** The configured text of a key. */
    secret: (name: string): string => keys.of(name).secret,
    secrets: (current: string, previous: string | null = null): Secrets => ({
      current: keys.of(current).secret,
      previous: previous === null ? null : keys.of(previous).secret,
    }),
    /** A body and its signature, whose encoding matches the pattern. */
    signedLike(pattern: RegExp): { readonly body: Uint8Array; readonly mac: Buffer } {
      for (let n = 0; ; n += 1) {
        const body = utf8(`{"n":${n}}`);
        const made = mac(body);
        if (pattern.test(encode(made))) return { body, mac: made };
        if (n > 10_000) throw new Error(`No signature looks like ${pattern}`);
      }
    },
  };
}
export type Signer = ReturnType<typeof signer>;

function base64Of(encoding: TextScheme["encoding"]): "base64" | "base64url" {
  return encoding === "base64url" ? encoding : "base64";
}

/** What the engine says of an attempt. Throws if it would have to wait for something. */
export function outcomeOf(by: Signer, attempt: Attempt): Outcome {
  const request = requestOf(by, attempt);
  const verify = verifier(by.scheme, attempt.secrets ?? by.secrets(today), by.keys.store);
  const result = verify(request);
  if (result instanceof Promise) throw new Error("The verifier is not synchronous");
  if ("rejection" in result) return result.rejection;
  if (result.verified.bytes !== request.bytes) throw new Error("Other bytes were verified");
  return result.verified.signedWith;
}

export function requestOf(by: Signer, attempt: Attempt): SignedRequest {
  const { body = plain, time = by.timeOf(now), secrets = by.secrets(today) } = attempt;
  const { url = by.url, method = "POST", receivedAtMs = now * 1_000 } = attempt;
  const { header = by.header(body) } = attempt;
  const headers = new Headers();
  const timeHeader = headerIn(oneOrMore(by.scheme.timestamp?.from)[0] ?? "");
  if (timeHeader !== null && time !== null) headers.set(timeHeader, time);
  const account = by.accountHeader === null ? {} : { [by.accountHeader]: secrets.current };
  const signed = { ...by.signedHeaders, ...account, ...attempt.signed };
  for (const [name, value] of Object.entries(signed)) {
    if (value !== null) headers.set(name, value);
  }
  if (by.keyHeader !== null) headers.set(by.keyHeader, "https://keys.example.com/1");
  const sent = attempt.headers ?? (header === null ? [] : [[by.headerName, header] as const]);
  for (const [name, value] of sent) headers.append(name, value);
  return { method, url, headers, bytes: body, receivedAtMs };
}

/** Whether an outcome is the expected one. */
export function isExpected(expected: Expected, outcome: Outcome): boolean {
  if (expected === "rejected") return outcome !== "current" && outcome !== "previous";
  return outcome === expected;
}

export function flipped(original: Uint8Array, position: number, bit = 0): Buffer {
  const altered = Buffer.from(original);
  altered.writeUInt8(altered.readUInt8(position) ^ (1 << bit), position);
  return altered;
}
