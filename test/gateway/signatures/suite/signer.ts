import { expect } from "bun:test";
import { createHmac } from "node:crypto";

import {
  type SecretRole,
  type Secrets,
  type SignatureRejection,
  type SignatureScheme,
  verifier,
} from "../../../../src/gateway/signatures/signature.ts";

/** The result of a request: the secret that it verified with, or why it did not. */
export type Outcome = SecretRole | SignatureRejection;

/** How a request differs from a correct one. */
export interface Attempt {
  readonly body?: Uint8Array;
  /** The value of the scheme's first header. Default: a valid one for the body. Null: not sent. */
  readonly header?: string | null;
  /** All signature headers, for tests that send more than the first. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly secrets?: Secrets;
  readonly receivedAtMs?: number;
}

/** A request with one difference, and its expected result. */
export type Row = readonly [behaviour: string, outcome: Outcome, attempt: Attempt];

export const now = 1_763_716_364;
export const today = "it was a bright cold day";
export const yesterday = "the clocks were striking thirteen";
export const onlyToday: Secrets = { current: today, previous: null };
export const rotating: Secrets = { current: today, previous: yesterday };

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const joined = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
export const plain = utf8('{"id":"evt_1","note":"caf\u00e9 \u{1f6eb}","n":[1,2.50],"z":null}');

interface SignOptions {
  readonly secret?: string;
  readonly time?: string;
  readonly algorithm?: SignatureScheme["algorithm"];
}

/** Signs as the provider does, or with the errors that a row asks for. */
export function signer(scheme: SignatureScheme) {
  const timestamped = scheme.signed === "timestamp-dot-raw";
  const mac = (body: Uint8Array, options: SignOptions = {}): Buffer => {
    const { secret = today, time = `${now}`, algorithm = scheme.algorithm } = options;
    const hmac = createHmac(algorithm, secret);
    return hmac
      .update(timestamped ? `${time}.` : "")
      .update(body)
      .digest();
  };
  const encode = (bytes: Buffer): string => bytes.toString(scheme.encoding);
  const value = (encoded: string, time = `${now}`): string =>
    timestamped ? `t=${time},v1=${encoded}` : `${scheme.prefix ?? ""}${encoded}`;
  return {
    scheme,
    timestamped,
    compacts: scheme.signed === "raw-or-compact-json",
    headerName: scheme.headers[0] ?? "",
    mac,
    encode,
    /** The header value that holds an encoded signature. */
    value,
    /** The encoded signature of a body. */
    encoded: (body: Uint8Array, options: SignOptions = {}) => encode(mac(body, options)),
    /** The header value that signs a body. */
    header: (body: Uint8Array, options: SignOptions = {}) =>
      value(encode(mac(body, options)), options.time),
    /** A body whose encoded signature matches the pattern. */
    bodyWithSignature: (pattern: RegExp): Uint8Array => {
      for (let n = 0; ; n += 1) {
        const body = utf8(`{"n":${n}}`);
        if (pattern.test(encode(mac(body)))) return body;
      }
    },
  };
}
export type Signer = ReturnType<typeof signer>;

export function outcomeOf(by: Signer, attempt: Attempt): Outcome {
  const body = attempt.body ?? plain;
  const { header = by.header(body), receivedAtMs = now * 1_000 } = attempt;
  const headers = new Headers();
  const sent = attempt.headers ?? (header === null ? [] : [[by.headerName, header] as const]);
  for (const [name, value] of sent) headers.append(name, value);
  const verify = verifier(by.scheme, attempt.secrets ?? onlyToday);
  const result = verify({ headers, bytes: body, receivedAtMs });
  if ("rejection" in result) return result.rejection;
  expect(result.verified.bytes).toBe(body);
  return result.verified.signedWith;
}

export function flipped(original: Uint8Array, position: number, bit = 0): Buffer {
  const altered = Buffer.from(original);
  altered.writeUInt8(altered.readUInt8(position) ^ (1 << bit), position);
  return altered;
}
