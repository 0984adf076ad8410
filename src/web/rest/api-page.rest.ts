import type { Clock } from "../../base/clock.ts";
import { type Asset, asset, htmlPage, pageHeaders } from "../asset.ts";

import { assetsRest } from "./assets.rest.ts";
import { examplesAsOf } from "./example.ts";

import palette from "../palette.css" with { type: "text" };
import colours from "./api-page.css" with { type: "text" };

const page = htmlPage(
  "Skyhook API",
  `<div id="reference"></div>
    <noscript>This page needs JavaScript. The OpenAPI document is at <a href="openapi.json">openapi.json</a>.</noscript>`,
  `<link rel="stylesheet" href="swagger/page.css" />
    <script defer src="swagger/scalar.js"></script>
    <script defer src="swagger/start.js"></script>`,
);

const options = {
  url: "openapi.json",
  theme: "none",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "json",
};

// A separate file, because the page's Content-Security-Policy forbids inline scripts. It keeps a token that the
// server accepts for the tab; without one, the session of the console is used, whose header each request has.
// Each try of a POST has a new Idempotency-Key, unless one was entered.
const start = `const storageKey = "skyhook.token";
Scalar.createApiReference("#reference", {
  ...${JSON.stringify(options)},
  authentication: {
    preferredSecurityScheme: "bearer",
    securitySchemes: { bearer: { token: sessionStorage.getItem(storageKey) ?? "" } },
  },
  onBeforeRequest({ requestBuilder: { method, headers } }) {
    headers.set("x-skyhook-console", "1");
    if (!/^post$/i.test(method) || headers.get("idempotency-key")) return;
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    headers.set("idempotency-key", Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  },
  onResponseReceived({ request, response }) {
    const [, token] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token && response.status !== 401) sessionStorage.setItem(storageKey, token);
  },
});
`;

// Scalar sets inline styles.
const headers = pageHeaders({ "style-src": "'self' 'unsafe-inline'" });

/** The API reference as a page and as an OpenAPI document. The page works offline. */
export const apiPageRest = (document: () => Promise<unknown>, clock: Clock) => {
  let made: readonly [day: string, asset: Asset] | undefined;
  // Made once a day, because the days in its examples are near ones.
  const json: Asset = (request) => {
    const today = Temporal.Instant.fromEpochMilliseconds(clock.now())
      .toZonedDateTimeISO("UTC")
      .toPlainDate();
    const day = today.toString();
    if (made?.[0] !== day) {
      const load = async () => examplesAsOf(today, JSON.stringify(await document(), null, 2));
      made = [day, asset("json", load)];
    }
    return made[1](request);
  };
  return assetsRest("api-page", {
    "/swagger": asset("html", async () => page, headers),
    "/swagger/scalar.js": asset("js", async () => (await import("./scalar.embedded.ts")).script),
    "/swagger/page.css": asset("css", async () => palette + colours),
    "/swagger/start.js": asset("js", async () => start),
    "/swagger/json": json,
    "/openapi.json": json,
  });
};
