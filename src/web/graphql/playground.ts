import { type Asset, asset, htmlPage, pageHeaders } from "../asset.ts";

import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from "./graphiql.embedded.ts";
import { examples } from "./playground-examples.ts";

/** GraphiQL, served by this program without other hosts. */
interface Playground {
  readonly page: Asset;
  /** Null for an unknown name. */
  file(request: Request, name: string): Promise<Response> | null;
}

const consoleHeader = { "x-skyhook-console": "1" };
const exampleHeaders = JSON.stringify({ authorization: "Bearer " }, null, 2);

/** The tabs of a first visit, as GraphiQL stores them. */
const exampleTabs = {
  activeTabIndex: 0,
  tabs: examples.map(({ title, query, variables }, index) => ({
    id: `example-${index}`,
    hash: null,
    title,
    query,
    variables: variables === undefined ? null : JSON.stringify(variables, null, 2),
    headers: exampleHeaders,
    operationName: null,
    response: null,
  })),
};

const options = {
  title: "Skyhook GraphiQL",
  endpoint: "/graphql",
  defaultQuery: examples[0]?.query ?? "",
  defaultHeaders: exampleHeaders,
  headers: exampleHeaders,
  // With it, each request may use the session of the console.
  additionalHeaders: consoleHeader,
  subscriptionsProtocol: "SSE",
};

/** The first visit does not wait longer for a flight. */
const flightTimeoutMs = 2_000;

/**
 * Starts the editor and its workers. GraphiQL reopens a stored tab only if it receives exactly that tab's
 * query, variables and headers; otherwise each visit adds a tab. So it receives those of the active tab,
 * or of the tab with the query in the URL. Empty tabs are removed. On a first visit, the examples get a flight with
 * free seats: of the newest ones, the last to depart.
 */
const start = `
const exampleTabs = ${JSON.stringify(exampleTabs)};
const place = "graphiql:tabState";
async function bookableFlight() {
  const query = "{ flights(first: 100) { nodes { flightId departureTime seatsAvailable } } }";
  try {
    const headers = { "content-type": "application/json", ...${JSON.stringify(consoleHeader)} };
    const request = { method: "POST", headers, body: JSON.stringify({ query }), signal: AbortSignal.timeout(${flightTimeoutMs}) };
    const { data } = await (await fetch("/graphql", request)).json();
    const free = data.flights.nodes.filter(({ seatsAvailable }) => seatsAvailable > 0);
    return free.sort((a, b) => b.departureTime.localeCompare(a.departureTime))[0]?.flightId;
  } catch {
    // The examples name a flight of their own.
  }
}
async function firstVisit() {
  const flightId = await bookableFlight();
  const named = (name, value) => (name === "flightId" ? (flightId ?? value) : value);
  const tabs = exampleTabs.tabs.map((tab) => ({
    ...tab,
    variables: tab.variables && JSON.stringify(JSON.parse(tab.variables, named), null, 2),
  }));
  localStorage.setItem(place, JSON.stringify({ ...exampleTabs, tabs }));
}
function lastVisit() {
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
const ready = localStorage.getItem(place) === null ? firstVisit() : Promise.resolve();
void ready.then(() =>
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector("#root"), { ...${JSON.stringify(options)}, ...lastVisit() }));
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

const script = (content: string | Blob): Asset => asset("js", async () => content, headers);

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
