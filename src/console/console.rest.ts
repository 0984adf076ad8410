import { programName } from "../base/program-name.ts";
import { version } from "../base/version.ts";
import { asset, htmlPage, pageHeaders } from "../web/asset.ts";
import { markUri } from "../web/mark.ts";
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
    ${outline}
    <noscript>The console requires JavaScript. You can also use the API directly: see the <a href="swagger">API reference</a>.</noscript>`,
    `<link rel="stylesheet" href="console/page.css" />
    <script type="module" async src="console/start.js"></script>
    <link rel="modulepreload" href="console/main.js" />
    <script type="module" src="console/page.js"></script>`,
  );
}

/** The frame with grey rows: shown until the script, which removes it, knows who is signed in. */
const outline = `<div class="frame" id="opening">
      <div class="side" aria-hidden="true">
        <div class="brand"><img src="${markUri()}" width="24" height="24" alt="" /><span>Skyhook</span></div>
        <div class="bones"></div>
      </div>
      <div id="main">
        <div class="bar" aria-hidden="true"><div class="bones"></div></div>
        <p class="hidden-label" role="status">Loading console…</p>
        <div class="bones"></div>
      </div>
      <div class="bottom" aria-hidden="true"></div>
    </div>`;

/**
 * Stricter than the headers of other pages: with Trusted Types the browser itself rejects every attempt to
 * turn text into markup, so a payload cannot inject any. The script policy is the second line of defence.
 */
const headers = pageHeaders({ "require-trusted-types-for": "'script'", "trusted-types": "'none'" });

// Imported on the first request: a start from source does not wait for the bundler.
const script = (name: string) =>
  asset("js", async () => (await import("./script.embedded.ts")).scripts[name] ?? "");

/** The operators' console: a page that uses only the public API and loads nothing from other hosts. */
export const consoleRest = (parts: SignInParts) =>
  assetsRest("console", {
    "/console": asset("html", async () => pageWith(parts), headers),
    "/console/start.js": script("start.js"),
    "/console/page.js": script("page.js"),
    "/console/main.js": script("main.js"),
    "/console/others.js": script("others.js"),
    "/console/uPlot.esm.js": script("uPlot.esm.js"),
    "/console/page.css": asset("css", async () => (await import("./styles.ts")).styles),
  });
