import { apiVersion, version } from "../../base/version.ts";
import { asset, htmlPage, pageHeaders } from "../asset.ts";
import { markUri } from "../mark.ts";

interface Link {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

/** What a browser shows at `/`: links to the pages for people. `playground`: whether it is served. */
export const homePage = (playground: boolean) =>
  asset("html", async () => pageOf(playground), {
    ...pageHeaders(),
    vary: "Accept, Accept-Encoding, Origin",
  });

function pageOf(playground: boolean): string {
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
  return htmlPage(
    "Skyhook",
    `<main class="start">
      <h1><img src="${markUri()}" width="36" height="36" alt="" /> Skyhook</h1>
      <p>Webhook gateway and flight-booking API. It is running; <a href="readyz">readyz</a> says whether it is ready.</p>
      <ul>${items.join("")}</ul>
      <p><small>Skyhook ${version}, API ${apiVersion}. Clients that do not ask for HTML receive JSON.</small></p>
    </main>`,
    `<link rel="stylesheet" href="docs/page.css" />`,
  );
}
