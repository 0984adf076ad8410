import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

import { acceptsGzip } from "../asset.ts";

import { wrapper } from "./hardening.ts";

const compress = promisify(gzip);

/** A smaller response fits into one packet anyway. */
const minBytes = 1_000;

/**
 * Compresses JSON for requests with this header: the console may be on a slow network. Other sites cannot send the header,
 * so they cannot guess secrets by the size of responses. Other clients are programs, which read faster without.
 */
export const compressFor = (header: string) =>
  wrapper((handle) => async (request) => {
    const response = await handle(request);
    const isFor =
      request.headers.has(header) && acceptsGzip(request.headers.get("accept-encoding"));
    return isFor && isPlainJson(response) ? compressed(response) : response;
  });

function isPlainJson({ headers }: Response): boolean {
  const type = headers.get("content-type") ?? "";
  // The ETag is that of the uncompressed representation.
  return /^application\/(?:[\w.]+\+)?json/.test(type) && !headers.has("etag");
}

async function compressed(response: Response): Promise<Response> {
  const { status } = response;
  const headers = new Headers(response.headers);
  const plain = await response.bytes();
  if (plain.length < minBytes) return new Response(plain, { status, headers });
  headers.set("content-encoding", "gzip");
  headers.append("vary", "Accept-Encoding");
  headers.delete("content-length");
  const body = await compress(plain, { level: constants.Z_BEST_SPEED });
  return new Response(new Uint8Array(body), { status, headers });
}
