import { Elysia } from "elysia";
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };

import { asset, pageHeaders } from "./asset.ts";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Skyhook API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="swagger/ui.css" />
    <script defer src="swagger/ui.js"></script>
    <script defer src="swagger/start.js"></script>
  </head>
  <body>
    <div id="ui"></div>
    <noscript>The document itself is at <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;

// A file of its own, since the page's policy forbids scripts in the page. Nothing is sent to a validator.
const start = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#ui",
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** The API documents: a page for people, the OpenAPI document for programs. Works with no network. */
export const apiPageRest = (document: () => Promise<unknown>) => {
  const html = asset("text/html; charset=utf-8", async () => page, pageHeaders);
  const json = asset("application/json", async () => JSON.stringify(await document(), null, 2));
  const code = "text/javascript; charset=utf-8";
  const uiScript = asset(code, () => Bun.file(script).text());
  const startScript = asset(code, async () => start);
  const uiStyle = asset("text/css; charset=utf-8", () => Bun.file(style).text());
  return new Elysia({ name: "api-page" })
    .get("/swagger", ({ request }) => html(request))
    .get("/swagger/ui.js", ({ request }) => uiScript(request))
    .get("/swagger/ui.css", ({ request }) => uiStyle(request))
    .get("/swagger/start.js", ({ request }) => startScript(request))
    .get("/swagger/json", ({ request }) => json(request))
    .get("/openapi.json", ({ request }) => json(request));
};
