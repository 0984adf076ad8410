import { parseJson } from "../../base/json.ts";
import { lazy } from "../../base/lazy.ts";
import type { PlaceSource } from "../../base/place.ts";

import type { SignedRequest } from "./signed-request.ts";

/**
 * The largest body that is parsed before its signature is verified. Only schemes that sign members of the payload do so.
 */
export const maxUnverifiedBytes = 1024 * 1024;

/** Parses JSON when it is first asked for; undefined if it is too large or not JSON. Never throws. */
export function payloadReader(bytes: Uint8Array): () => unknown {
  return lazy(() => parse(bytes));
}

/** What places are looked up in. */
export function sourceOf({ headers, url, bytes, payload }: SourceRequest): PlaceSource {
  return { headers, url, payload: payload ?? payloadReader(bytes) };
}

type SourceRequest = Pick<SignedRequest, "headers" | "url" | "bytes" | "payload">;

function parse(bytes: Uint8Array): unknown {
  if (bytes.length > maxUnverifiedBytes) return undefined;
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
