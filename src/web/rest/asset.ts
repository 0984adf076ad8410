import { Elysia } from "elysia";

import { isKnown } from "./etag.ts";

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

/** The headers of a page that loads from this program only. `changes` replaces directives of its policy. */
export const pageHeaders = (changes: Readonly<Record<string, string>> = {}) => ({
  "content-security-policy": Object.entries({ ...policy, ...changes })
    .map((directive) => directive.join(" "))
    .join("; "),
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
});

/** An HTML document. `head` and `body` are HTML. */
export const htmlPage = (title: string, body: string, head = ""): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href="data:," />
    ${head}
  </head>
  <body>
    ${body}
  </body>
</html>
`;

/** A response that is the same for everyone as long as the program runs. */
export type Asset = (request: Request) => Promise<Response>;

const contentTypes = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
};

/**
 * Serves text with a validator, compressed where the client takes it (RFC 9110 sections 8.8.3 and
 * 12.5.3). `load` is called once, on the first request: a program that never shows its pages pays
 * nothing for them.
 */
export function asset(
  type: keyof typeof contentTypes,
  load: () => Promise<string>,
  extraHeaders: Readonly<Record<string, string>> = {},
): Asset {
  let loading: Promise<Loaded> | undefined;
  return async (request) => {
    loading ??= loaded(load);
    const { plain, packed, hash } = await loading;
    const isPacked = takesGzip(request.headers.get("accept-encoding"));
    const etag = `"${hash}${isPacked ? "-gzip" : ""}"`;
    const headers = {
      ...extraHeaders,
      "content-type": contentTypes[type],
      "cache-control": "no-cache",
      // This one replaces what `cors` says, so it says that too.
      vary: "Accept-Encoding, Origin",
      etag,
      ...(isPacked && { "content-encoding": "gzip" }),
    };
    if (isKnown(request.headers.get("if-none-match"), etag)) {
      const { "content-encoding": _, ...rest } = headers;
      return new Response(null, { status: 304, headers: rest });
    }
    return new Response(isPacked ? packed : plain, { headers });
  };
}

/** Serves each asset at its path. The API document leaves these routes out. */
export function assetsRest(name: string, assets: Readonly<Record<string, Asset>>): Elysia {
  const app = new Elysia({ name });
  for (const [path, serve] of Object.entries(assets)) {
    app.get(path, ({ request }) => serve(request), { detail: { hide: true } });
  }
  return app;
}

interface Loaded {
  readonly plain: string;
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly hash: string;
}

async function loaded(load: () => Promise<string>): Promise<Loaded> {
  const plain = await load();
  const packed = await gzipped(plain);
  return { plain, packed, hash: Bun.hash(plain).toString(36) };
}

async function gzipped(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const { gzip } = await import("node:zlib");
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  gzip(text, (error, packed) => (error === null ? resolve(new Uint8Array(packed)) : reject(error)));
  return promise;
}

/** Whether gzip is named and not refused by a weight of zero. */
function takesGzip(acceptEncoding: string | null): boolean {
  return /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(acceptEncoding ?? "");
}
