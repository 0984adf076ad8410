import { programName } from "../base/program-name.ts";
import { version } from "../base/version.ts";
import { asset, htmlPage, pageHeaders } from "../web/asset.ts";
import { assetsRest } from "../web/rest/assets.rest.ts";

interface SignInParts {
  /** The host that signs in by OpenID Connect; null if none is configured. */
  readonly issuer: string | null;
  /** Where users reach the server; null if it is not set. */
  readonly publicUrl: string | null;
}

/** Says how to sign in at this server, and which one it is. */
function pageWith({ issuer, publicUrl }: SignInParts): string {
  const host = publicUrl === null ? null : new URL(publicUrl).host;
  const data = Object.entries({ issuer, host, version, program: programName })
    .map(([name, value]) => (value === null ? "" : ` data-${name}="${Bun.escapeHTML(value)}"`))
    .join("");
  return htmlPage(
    "Skyhook console",
    `<div id="console"${data}></div>
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

/** The operators' console: a page that uses only the public API and loads nothing from other hosts. */
export const consoleRest = (parts: SignInParts) =>
  assetsRest("console", {
    "/console": asset("html", async () => pageWith(parts), headers),
    // Imported on the first request: a start from source does not wait for the bundler.
    "/console/page.js": asset("js", async () => (await import("./script.embedded.ts")).script),
    "/console/page.css": asset("css", async () => (await import("./styles.ts")).styles),
  });
