import { Elysia } from "elysia";

import { asset, pageHeaders } from "../http/asset.ts";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Skyhook console</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="console/page.css" />
    <script type="module" src="console/page.js"></script>
  </head>
  <body>
    <div id="console"></div>
    <noscript>The console needs JavaScript. The API that it shows is described at <a href="swagger">swagger</a>.</noscript>
  </body>
</html>
`;

/**
 * Stricter than other pages: whatever a payload holds, no text can become markup, since the browser
 * refuses it (Trusted Types) before the policy on scripts would.
 */
const headers = {
  ...pageHeaders,
  "content-security-policy": `${pageHeaders["content-security-policy"]}; require-trusted-types-for 'script'; trusted-types 'none'`,
};

/** The operator's console: a page that knows nothing but the public API. Works with no network. */
export const consoleRest = () => {
  // Loaded on the first look: a start from source does not wait for the bundler.
  const files = () => import("./files.ts");
  const html = asset("text/html; charset=utf-8", async () => page, headers);
  const script = asset("text/javascript; charset=utf-8", async () => (await files()).script);
  const style = asset("text/css; charset=utf-8", async () => (await files()).styles);
  return new Elysia({ name: "console" })
    .get("/console", ({ request }) => html(request), hidden)
    .get("/console/page.js", ({ request }) => script(request), hidden)
    .get("/console/page.css", ({ request }) => style(request), hidden);
};

const hidden = { detail: { hide: true } };
