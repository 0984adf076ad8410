import licence from "../../node_modules/@scalar/api-client/LICENSE" with { type: "text" };
import script from "../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { Elysia } from "elysia";

import colours from "./api-page.css" with { type: "text" };
import { asset, pageHeaders } from "./asset.ts";
import palette from "../palette.css" with { type: "text" };

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Skyhook API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="swagger/page.css" />
    <script defer src="swagger/scalar.js"></script>
    <script defer src="swagger/start.js"></script>
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The OpenAPI document is at <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;

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

// A file of its own, since the page's policy forbids scripts in the page. The token is the console's: a
// tab has one session. One that the server refuses is not kept.
const start = `const place = "skyhook.token";
Scalar.createApiReference("#reference", {
  ...${JSON.stringify(options)},
  authentication: {
    preferredSecurityScheme: "bearer",
    securitySchemes: { bearer: { token: sessionStorage.getItem(place) ?? "" } },
  },
  onResponseReceived({ request, response }) {
    const [, token] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token && response.status !== 401) sessionStorage.setItem(place, token);
  },
});
`;

const headers = {
  ...pageHeaders,
  // Scalar sets styles in place.
  "content-security-policy": pageHeaders["content-security-policy"].replace(
    "style-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  ),
};

/** The API documents: a page for people, the OpenAPI document for programs. Works with no network. */
export const apiPageRest = (document: () => Promise<unknown>) => {
  const html = asset("text/html; charset=utf-8", async () => page, headers);
  const json = asset("application/json", async () => JSON.stringify(await document(), null, 2));
  const code = "text/javascript; charset=utf-8";
  const scalar = asset(code, async () => `/*!\n${licence}*/\n${await Bun.file(script).text()}`);
  const startScript = asset(code, async () => start);
  const style = asset("text/css; charset=utf-8", async () => palette + colours);
  return new Elysia({ name: "api-page" })
    .get("/swagger", ({ request }) => html(request))
    .get("/swagger/scalar.js", ({ request }) => scalar(request))
    .get("/swagger/page.css", ({ request }) => style(request))
    .get("/swagger/start.js", ({ request }) => startScript(request))
    .get("/swagger/json", ({ request }) => json(request))
    .get("/openapi.json", ({ request }) => json(request));
};
