import {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from "@graphql-yoga/render-graphiql/graphiql";

import { type Asset, asset, htmlPage, pageHeaders } from "../rest/asset.ts";

/** GraphiQL, served by this program without other hosts. */
export interface Playground {
  readonly page: Asset;
  /** Null for an unknown name. */
  file(request: Request, name: string): Promise<Response> | null;
}

const exampleQuery = `# Flights are public. Everything else needs a token:
# add it after "Bearer " under Headers below.
#   skyhook token --email you@example.com
query Example {
  flights(first: 5) {
    totalCount
    nodes {
      flightId
      flightNumber
      origin
      destination
      departureLocal
      price {
        amount
        currency
      }
      seatsAvailable
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`;

const exampleHeaders = JSON.stringify({ authorization: "Bearer " }, null, 2);

const options = {
  title: "Skyhook GraphiQL",
  endpoint: "/graphql",
  defaultQuery: exampleQuery,
  defaultHeaders: exampleHeaders,
  headers: exampleHeaders,
  subscriptionsProtocol: "SSE",
};

/**
 * Starts the editor and its workers. GraphiQL reopens a stored tab only if it receives exactly that tab's
 * query, variables and headers; otherwise each visit adds a tab. So it receives those of the active tab,
 * or of the tab with the query in the URL. Empty tabs are removed.
 */
const start = `
function lastVisit() {
  const place = "graphiql:tabState";
  const wanted = new URL(location.href).searchParams.get("query");
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem(place));
    const front = tabs[activeTabIndex];
    const kept = tabs.filter(({ query }) => query?.trim());
    const tab = wanted
      ? [front, ...kept].find(({ query }) => query === wanted)
      : kept.includes(front) ? front : kept[0];
    if (kept.length === 0) localStorage.removeItem(place);
    else localStorage.setItem(place, JSON.stringify({ tabs: kept, activeTabIndex: Math.max(0, kept.indexOf(tab)) }));
    if (tab) {
      return { query: tab.query, variables: tab.variables ?? "", initialHeaders: tab.headers ?? undefined };
    }
  } catch {
    // A first visit, or tabs stored by another version: start with none.
  }
  return wanted ? { query: wanted } : {};
}
const workers = { editorWorkerService: "editor", json: "json", graphql: "graphql" };
self.MonacoEnvironment = {
  globalAPI: false,
  getWorker: (_, label) => new Worker("/graphql/playground/" + (workers[label] ?? "editor") + ".worker.js"),
};
YogaGraphiQL.renderYogaGraphiQL(document.querySelector("#root"), { ...${JSON.stringify(options)}, ...lastVisit() });
`;

const page = htmlPage(
  "Skyhook GraphiQL",
  `<noscript>The playground needs JavaScript.</noscript>
    <main id="root"></main>`,
  `<link rel="stylesheet" href="/graphql/playground/graphiql.css" />
    <script defer src="/graphql/playground/graphiql.js"></script>
    <script defer src="/graphql/playground/start.js"></script>`,
);

/** The editor sets inline styles, runs workers and embeds fonts. */
const headers = pageHeaders({
  "worker-src": "'self'",
  "style-src": "'self' 'unsafe-inline'",
  "font-src": "'self' data:",
});

const script = (text: string): Asset => asset("js", async () => text, headers);

export function playground(): Playground {
  const files: Readonly<Record<string, Asset>> = {
    "graphiql.css": asset("css", async () => css, headers),
    "graphiql.js": script(js),
    "start.js": script(start),
    "editor.worker.js": script(editorWorkerService),
    "json.worker.js": script(jsonWorker),
    "graphql.worker.js": script(graphqlWorker),
  };
  const index = asset("html", async () => page, headers);
  return {
    page: index,
    file: (request, name) => (Object.hasOwn(files, name) ? files[name]?.(request) : null) ?? null,
  };
}
