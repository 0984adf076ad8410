import { Elysia } from "elysia";

import { AppError } from "../../base/errors.ts";
import { type Asset, asset, htmlPage, pageHeaders } from "../asset.ts";
import type { Connection } from "../client-address.ts";
import type { DocsFolder } from "../docs/docs.embedded.ts";
import { pathToRoot, renderPage, summaryOf, titleOf, urlOf } from "../docs/page.ts";
import { type Hit, indexOf, search, wordsIn } from "../docs/search.ts";
import { markUri } from "../mark.ts";
import { urlOf as requestUrl } from "../url.ts";

import { assetsRest } from "./assets.rest.ts";
import type { Callers } from "./route.ts";

import palette from "../palette.css" with { type: "text" };
import styles from "./docs.css" with { type: "text" };

/** `/` leads to the search, as in the console. Commands have a button that copies them. The pages work without it. */
const pageScript = `addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
  event.preventDefault();
  document.querySelector("[type=search]").focus();
});
for (const block of isSecureContext ? document.querySelectorAll("pre:has(> [class]:not(.language-text))") : []) {
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(block.firstChild.innerText.trimEnd());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2_000);
  };
  block.append(button);
}
`;

/** The pages have a form that searches them. */
const searchHeaders = pageHeaders({ "form-action": "'self'" });

// Loaded on the first request, so that servers whose docs are not visited spend no memory on them.
const files = async () => (await import("../docs/docs.embedded.ts")).docs;

/** What a search costs, in fields of a response (see `Admit`). It reads all pages. */
const searchFields = 1_200;

type AgentTool = Readonly<Record<"name" | "title", string>>;

/** The documentation as HTML, as Markdown, and as an index for language models. Works offline. */
export const docsRest = (
  agentTools: () => Promise<readonly AgentTool[]>,
  { admit }: Pick<Callers, "admit">,
) => {
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;
  const serve = async (request: Request, path: string): Promise<Response> => {
    assets ??= files().then(assetsOf);
    const found = (await assets).get(path);
    if (found === undefined) throw new AppError("not-found", "No page of the docs has this URL");
    return found(request);
  };
  let index: ReturnType<typeof indexOf> | undefined;
  const found = async (exchange: Connection): Promise<Response> => {
    const { request } = exchange;
    index ??= files().then(indexOf);
    const sections = await index;
    // After the index, for which all first searches wait: then each has a turn of its own.
    await admit(exchange)(searchFields);
    const query = requestUrl(request).searchParams.get("q") ?? "";
    const words = wordsIn(query);
    const results = words.length === 0 ? null : search(sections, words);
    const headers = { ...searchHeaders, "content-type": "text/html; charset=utf-8" };
    return new Response(resultsOf(await files(), query, results), { headers });
  };
  const hidden = { detail: { hide: true } };
  return new Elysia({ name: "docs" })
    .use(
      assetsRest("docs-index", {
        // https://llmstxt.org
        "/llms.txt": asset("text", async () => llmsText(await files(), await agentTools())),
        "/docs/page.css": asset("css", async () => palette + styles),
        "/docs/page.js": asset("js", async () => pageScript),
      }),
    )
    .get("/docs/search", found, hidden)
    .get("/docs", ({ request }) => serve(request, "docs"), hidden)
    .get("/docs/:page", ({ request, params }) => serve(request, `docs/${params.page}`), hidden)
    .get(
      "/docs/:page/:inner",
      ({ request, params }) => serve(request, `docs/${params.page}/${params.inner}`),
      hidden,
    );
};

/** A response for each page, its Markdown and each picture, by path. Each is rendered when first requested. */
function assetsOf(docs: DocsFolder): ReadonlyMap<string, Asset> {
  const pages = Object.entries(docs.pages).flatMap(([file, text]) => [
    [
      urlOf(docs, file) ?? "",
      asset("html", async () => documentOf(docs, file), searchHeaders),
    ] as const,
    [`docs/${file}`, asset("md", async () => text)] as const,
  ]);
  const pictures = Object.entries(docs.pictures).map(
    ([file, base64]) => [`docs/${file}`, picture(Buffer.from(base64, "base64"))] as const,
  );
  return new Map([...pages, ...pictures]);
}

function picture(bytes: Buffer<ArrayBuffer>): Asset {
  const headers = { "content-type": "image/webp", "cache-control": "max-age=3600" };
  const blob = new Blob([bytes]);
  return async () => new Response(blob, { headers });
}

function documentOf(docs: DocsFolder, file: string): string {
  const root = pathToRoot(file);
  const { title, body, sections } = renderPage(docs, file);
  const contents = sections.map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`).join("");
  const menu = mainPages(docs).map((page) => {
    const isOpen = page === file;
    const link = linkTo(docs, root, page, isOpen ? ' aria-current="page"' : "");
    return `<li>${link}${isOpen && contents !== "" ? `<ul>${contents}</ul>` : ""}</li>`;
  });
  return frameOf(root, title, menu.join(""), body + neighbours(docs, root, file));
}

/** The page before and the one after, in the order of the menu. */
function neighbours(docs: DocsFolder, root: string, file: string): string {
  const pages = mainPages(docs);
  const at = pages.indexOf(file);
  if (at === -1) return "";
  const [previous, next] = [at === 0 ? undefined : pages[at - 1], pages[at + 1]];
  const link = (page: string | undefined, rel: string) =>
    page === undefined ? "<span></span>" : linkTo(docs, root, page, ` rel="${rel}"`);
  return `<nav class="neighbours" aria-label="Neighbours">${link(previous, "prev")}${link(next, "next")}</nav>`;
}

/** What a search of all pages finds; null for a search without words. */
function resultsOf(docs: DocsFolder, query: string, found: readonly Hit[] | null): string {
  const items = found?.map(({ title, url, excerpt }) => {
    const [name, text] = [title, excerpt].map((each) => Bun.escapeHTML(each));
    return `<li><a href="../${url}">${name}</a><p>${text}</p></li>`;
  });
  const isFound = items !== undefined && items.length > 0;
  const list = isFound ? `<ol class="results">${items.join("")}</ol>` : "";
  const none = items === undefined ? "Write some words." : "No section has all these words.";
  const menu = mainPages(docs).map((page) => `<li>${linkTo(docs, "../", page)}</li>`);
  const body = `<h1>Search</h1><p role="status">${isFound ? "" : none}</p>${list}`;
  return frameOf("../", "Search", menu.join(""), body, query);
}

const linkTo = (docs: DocsFolder, root: string, page: string, attributes = ""): string =>
  `<a href="${root}${urlOf(docs, page)}"${attributes}>${Bun.escapeHTML(titleOf(docs, page))}</a>`;

/** The frame of every page. `menu` and `body` are HTML. */
function frameOf(root: string, title: string, menu: string, body: string, query = ""): string {
  return htmlPage(
    `${Bun.escapeHTML(title)} · Skyhook docs`,
    `<header>
      <a class="home" href="${root || "./"}"><img src="${markUri()}" width="24" height="24" alt="" /> Skyhook</a>
      <nav aria-label="Service"><a href="${root}docs">Docs</a> <a href="${root}console">Console</a> <a href="${root}swagger">API reference</a> <a class="to-pages" href="#pages">All pages</a></nav>
      <form role="search" action="${root}docs/search">
        <input type="search" name="q" value="${Bun.escapeHTML(query)}" placeholder="Search (press /)" aria-label="Search all pages" aria-keyshortcuts="/" maxlength="100" />
      </form>
    </header>
    <div class="columns">
      <nav class="pages" id="pages" aria-label="Pages"><ul>${menu}</ul></nav>
      <main>${body}</main>
    </div>`,
    `<link rel="stylesheet" href="${root}docs/page.css" />
    <script defer src="${root}docs/page.js"></script>`,
  );
}

/** The pages that the menu lists: the index, those that it leads to, in its order, and no decision records. */
function mainPages({ pages }: DocsFolder): readonly string[] {
  const names = Object.keys(pages).filter((file) => !file.includes("/") && file !== "README.md");
  const index = pages["README.md"] ?? "";
  const placeOf = (file: string) => index.indexOf(`(${file}`) + 1 || Number.MAX_SAFE_INTEGER;
  const ordered = names.toSorted((one, other) => placeOf(one) - placeOf(other));
  return "README.md" in pages ? ["README.md", ...ordered] : ordered;
}

/** What agents can call, and title, summary and links to the Markdown of each page (https://llmstxt.org). */
function llmsText(docs: DocsFolder, tools: readonly AgentTool[]): string {
  const list = (files: readonly string[]) =>
    files
      .map((file) => {
        const summary = summaryOf(docs, file);
        return `- [${titleOf(docs, file)}](docs/${file})${summary === "" ? "" : `: ${summary}`}\n`;
      })
      .join("");
  const main = mainPages(docs);
  const others = Object.keys(docs.pages).filter((file) => !main.includes(file));
  return `# Skyhook

> A self-hosted webhook gateway and flight-booking API in a single program.

The API itself is described by [openapi.json](openapi.json).

## For agents

A server of the Model Context Protocol at /mcp has these tools; those that write or read bodies only if they are allowed.

${tools.map(({ name, title }) => `- ${name}: ${title}\n`).join("")}
## Docs

${list(main)}
## Optional

${list(others)}`;
}
