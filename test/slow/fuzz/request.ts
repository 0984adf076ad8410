import fc from "fast-check";

import type { Role } from "../../../src/base/context.ts";

/** A request as data, so that it can be made smaller and printed. */
export interface FuzzRequest {
  readonly method: string;
  /** Path and query. `{flight}`, `{booking}`, `{user}`, `{event}` and `{cursor}` stand for ones that exist. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whose token goes with it; null: none. */
  readonly as: Role | null;
  readonly body: Uint8Array | null;
  /** The provider whose right signature over the body goes with it. */
  readonly signedFor?: string;
}

export const get = (path: string, as: Role | null = null): FuzzRequest => ({
  method: "GET",
  path,
  headers: [],
  as,
  body: null,
});

/** `body`: the bytes, or a value. */
export const postJson = (path: string, body: unknown, as: Role | null = null): FuzzRequest => ({
  method: "POST",
  path,
  headers: [["content-type", "application/json"]],
  as,
  body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
});

export const anyRole: fc.Arbitrary<Role | null> = fc.constantFrom(
  "admin",
  "operator",
  "user",
  "user",
  null,
);

/** A request in a few lines. */
export function shown({ method, path, headers, as, body, signedFor }: FuzzRequest): string {
  const lines = [
    `${method} ${JSON.stringify(path)} as ${as ?? "nobody"}`,
    ...headers.map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
    ...(signedFor === undefined ? [] : [`  signed as ${signedFor} does`]),
  ];
  if (body !== null) lines.push(`  body of ${body.length} bytes: ${shownBytes(body)}`);
  return lines.map(shortened).join("\n");
}

/** The seed says it all: this is for a first look. */
const shortened = (line: string): string =>
  line.length > 1_000 ? `${line.slice(0, 1_000)}… (${line.length} characters)` : line;

/** Bytes as a JSON text, or in hex where they are not UTF-8; a long one is cut. */
export function shownBytes(bytes: Uint8Array): string {
  const cut = bytes.length > 2_000 ? bytes.subarray(0, 2_000) : bytes;
  const text = Buffer.from(cut).toString();
  const exact = Buffer.from(text).equals(cut)
    ? JSON.stringify(text)
    : `hex ${Buffer.from(cut).toString("hex")}`;
  return bytes.length > cut.length ? `${exact}…` : exact;
}
