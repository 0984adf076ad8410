import { lazy } from "../base/lazy.ts";
import { nextTurn } from "../base/own-turn.ts";

import { matchesETag } from "./etag.ts";
import { markUri } from "./mark.ts";

const policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

/**
 * The headers of a page that loads only from this server. `changes` replaces directives of its
 * Content-Security-Policy.
 */
export const pageHeaders = (changes: Readonly<Record<string, string>> = {}) => ({
  "content-security-policy": Object.entries({ ...policy, ...changes })
    .map((directive) => directive.join(" "))
    .join("; "),
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
});

/** `body` and `head` are HTML and are not escaped. */
export const htmlPage = (title: string, body: string, head = ""): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href="${markUri()}" />
    ${head}
  </head>
  <body>
    ${body}
  </body>
</html>
`;

/** Serves a response that is the same for every client and never changes while the process runs. */
export type Asset = (request: Request) => Promise<Response>;

const contentTypes = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  md: "text/markdown; charset=utf-8",
  text: "text/plain; charset=utf-8",
};

/**
 * Serves text with an ETag, compressed if the client accepts gzip (RFC 9110 sections 8.8.3 and 12.5.3).
 * Calls `load` once, on the first request, so that a server whose pages are not visited spends nothing on them.
 * It returns the text, or what `gzipped` made of it.
 */
export function asset(
  type: keyof typeof contentTypes,
  load: () => Promise<string | Blob>,
  extraHeaders: Readonly<Record<string, string>> = {},
): Asset {
  let loading: Promise<Prepared> | undefined;
  return async (request) => {
    loading ??= prepare(load);
    const { plain, compressed, hash } = await loading;
    const isCompressed = acceptsGzip(request.headers.get("accept-encoding"));
    const etag = `"${hash}${isCompressed ? "-gzip" : ""}"`;
    const headers = {
      "content-type": contentTypes[type],
      "cache-control": "no-cache",
      // This replaces the `Vary: Origin` that `cors` sets, so it includes Origin.
      vary: "Accept-Encoding, Origin",
      ...extraHeaders,
      etag,
      ...(isCompressed && { "content-encoding": "gzip" }),
    };
    if (matchesETag(request.headers.get("if-none-match"), etag)) {
      const { "content-encoding": _, ...rest } = headers;
      return new Response(null, { status: 304, headers: rest });
    }
    return new Response(isCompressed ? compressed : await plain(), { headers });
  };
}

/** As blobs: Bun sends those without a copy. Clients that do not read would make it keep a copy of a string each. */
interface Prepared {
  readonly plain: () => Promise<Blob>;
  readonly compressed: Blob;
  readonly hash: string;
}

async function prepare(load: () => Promise<string | Blob>): Promise<Prepared> {
  const content = await load();
  // A text may have megabytes: each of these then takes some milliseconds.
  await nextTurn();
  if (content instanceof Blob) {
    const hash = hashOf(await content.bytes());
    return { plain: lazy(() => decompress(content)), compressed: content, hash };
  }
  const compressed = new Blob([await compress(content)]);
  await nextTurn();
  const hash = hashOf(content);
  await nextTurn();
  const plain = new Blob([content]);
  return { plain: async () => plain, compressed, hash };
}

const hashOf = (content: string | Uint8Array) => Bun.hash(content).toString(36);

/** Compresses a large text for `asset`, to the same bytes on every machine. For modules named `*.embedded.ts`. */
export const gzipped = (text: string): Blob =>
  new Blob([Bun.gzipSync(text, { library: "libdeflate" })]);

/** Few clients ask for this: browsers accept gzip. */
const decompress = (compressed: Blob): Promise<Blob> =>
  new Response(compressed.stream().pipeThrough(new DecompressionStream("gzip"))).blob();

async function compress(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const { gzip } = await import("node:zlib");
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  gzip(text, (error, compressed) =>
    error === null ? resolve(new Uint8Array(compressed)) : reject(error),
  );
  return promise;
}

/** Whether `Accept-Encoding` lists gzip with a weight other than zero. */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  return /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(acceptEncoding ?? "");
}
