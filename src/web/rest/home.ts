import { builtCommit, programName } from "../../base/program-name.ts";
import { apiVersion, version } from "../../base/version.ts";
import { type Asset, asset, htmlPage, pageHeaders } from "../asset.ts";
import { markUri } from "../mark.ts";

interface Link {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

/** What a browser shows at `/`: what to do first, and links to the pages for people. */
interface Home {
  /** Whether the playground is served. */
  readonly playground: boolean;
  /** The registered providers. */
  readonly providers: () => readonly string[];
}

const headers = { ...pageHeaders(), vary: "Accept, Accept-Encoding, Origin" };

/** The page is made for each request, because providers are added while the program runs. */
export const homePage =
  (home: Home): Asset =>
  (request) =>
    asset("html", async () => pageOf(home), headers)(request);

function pageOf({ playground, providers }: Home): string {
  const links: readonly Link[] = [
    {
      path: "console",
      name: "Console",
      text: "Webhooks as they arrive, rejected requests, bookings",
    },
    { path: "swagger", name: "API reference", text: "Every REST operation, with examples to run" },
    ...(playground
      ? [{ path: "graphql", name: "GraphQL playground", text: "Queries with completion" }]
      : []),
    { path: "docs", name: "Documentation", text: "Set up, operate, integrate" },
  ];
  const items = links.map(
    ({ path, name, text }) => `<li><a href="${path}"><b>${name}</b><small>${text}</small></a></li>`,
  );
  const endpoints = providers().map((id) => `<code>/webhooks/${Bun.escapeHTML(id)}</code>`);
  const commit = builtCommit === null ? "" : ` (${builtCommit})`;
  return htmlPage(
    "Skyhook",
    `<main class="start">
      <h1><img src="${markUri()}" width="36" height="36" alt="" /> Skyhook</h1>
      <p>Webhook gateway and flight-booking API. It is running; <a href="readyz">readyz</a> says whether it is ready.
        First step: run <code>${programName} console</code> beside it, and open the link that it prints.</p>
      <ul>${items.join("")}</ul>
      <p>${endpoints.length === 0 ? "No provider is registered" : `Providers post to ${endpoints.join(", ")}`}.</p>
      <p><small>Skyhook ${version}${commit}, API ${apiVersion}. Clients that do not ask for HTML receive JSON.</small></p>
    </main>`,
    `<link rel="stylesheet" href="docs/page.css" />`,
  );
}
