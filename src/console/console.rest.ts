import { asset, assetsRest, htmlPage, pageHeaders } from "../web/rest/asset.ts";

const page = htmlPage(
  "Skyhook console",
  `<div id="console"></div>
    <noscript>The console requires JavaScript. You can also use the API directly: see the <a href="swagger">API reference</a>.</noscript>`,
  `<link rel="stylesheet" href="console/page.css" />
    <script type="module" src="console/page.js"></script>`,
);

/**
 * Stricter than the headers of other pages: with Trusted Types the browser itself rejects every attempt to
 * turn text into markup, so a payload cannot inject any. The script policy is the second line of defence.
 */
const headers = pageHeaders({ "require-trusted-types-for": "'script'", "trusted-types": "'none'" });

// Loaded on the first request, so that a start from source does not wait for the bundler.
const files = () => import("./files.ts");

/** The operators' console: a page that uses only the public API and loads nothing from other hosts. */
export const consoleRest = () =>
  assetsRest("console", {
    "/console": asset("html", async () => page, headers),
    "/console/page.js": asset("js", async () => (await files()).script),
    "/console/page.css": asset("css", async () => (await files()).styles),
  });
