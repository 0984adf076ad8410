import { asset, assetsRest, htmlPage, pageHeaders } from "../web/rest/asset.ts";

const page = htmlPage(
  "Skyhook console",
  `<div id="console"></div>
    <noscript>The console needs JavaScript. The API that it shows is described at <a href="swagger">swagger</a>.</noscript>`,
  `<link rel="stylesheet" href="console/page.css" />
    <script type="module" src="console/page.js"></script>`,
);

/**
 * Stricter than other pages: whatever a payload holds, no text can become markup, since the browser
 * refuses it (Trusted Types) before the policy on scripts would.
 */
const headers = pageHeaders({ "require-trusted-types-for": "'script'", "trusted-types": "'none'" });

// Loaded on the first look: a start from source does not wait for the bundler.
const files = () => import("./files.ts");

/** The operator's console: a page that knows nothing but the public API. Works with no network. */
export const consoleRest = () =>
  assetsRest("console", {
    "/console": asset("html", async () => page, headers),
    "/console/page.js": asset("js", async () => (await files()).script),
    "/console/page.css": asset("css", async () => (await files()).styles),
  });
