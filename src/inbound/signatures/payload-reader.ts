import { parseJson } from "../../base/json.ts";
import { lazy } from "../../base/lazy.ts";

/**
 * The largest body that is parsed before its signature is verified. Only schemes that sign members of the payload do so.
 */
export const maxUnverifiedBytes = 1024 * 1024;

/** Parses JSON when it is first asked for; undefined if it is too large or not JSON. Never throws. */
export function payloadReader(bytes: Uint8Array): () => unknown {
  return lazy(() => parse(bytes));
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.length > maxUnverifiedBytes) return undefined;
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
