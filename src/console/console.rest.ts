import { asset, htmlPage, pageHeaders } from "../web/asset.ts";
import { assetsRest } from "../web/rest/assets.rest.ts";

function pageWith(issuer: string | null): string {
  const attribute = issuer === null ? "" : ` data-issuer="${Bun.escapeHTML(issuer)}"`;
  return htmlPage(
    "Skyhook console",
    `<div id="console"${attribute}></div>
    <noscript>The console requires JavaScript. You can also use the API directly: see the <a href="swagger">API reference</a>.</noscript>`,
    `<link rel="stylesheet" href="console/page.css" />
    <script type="module" src="console/page.js"></script>`,
  );
}

/**
 * Stricter than the headers of other pages: with Trusted Types the browser itself rejects every attempt to
 * turn text into markup, so a payload cannot inject any. The script policy is the second line of defence.
 */
const headers = pageHeaders({ "require-trusted-types-for": "'script'", "trusted-types": "'none'" });

/**
 * The operators' console: a page that uses only the public API and loads nothing from other hosts. `issuer` is the
 * host that signs in by OpenID Connect; null if none is configured.
 */
export const consoleRest = (issuer: string | null) =>
  assetsRest("console", {
    "/console": asset("html", async () => pageWith(issuer), headers),
    // Imported on the first request: a start from source does not wait for the bundler.
    "/console/page.js": asset("js", async () => (await import("./script.embedded.ts")).script),
    "/console/page.css": asset("css", async () => (await import("./styles.ts")).styles),
  });
