import { Elysia } from "elysia";

import { AppError } from "../../../base/errors.ts";
import { type Asset, asset, htmlPage, pageHeaders } from "../../asset.ts";
import { assetsRest } from "../assets.rest.ts";

import type { DocsFolder } from "./folder.ts";
import { pathToRoot, renderPage, summaryOf, titleOf, urlOf } from "./page.ts";

import palette from "../../palette.css" with { type: "text" };
import styles from "./docs.css" with { type: "text" };

// Loaded on the first request, so that servers whose docs are not visited spend no memory on them.
const files = async () => (await import("./files.ts")).docs;

/** The documentation as HTML, as Markdown, and as an index for language models. Works offline. */
export const docsRest = () => {
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;
  const serve = async (request: Request, path: string): Promise<Response> => {
    assets ??= files().then(assetsOf);
    const found = (await assets).get(path);
    if (found === undefined) throw new AppError("not-found", "No page of the docs has this URL");
    return found(request);
  };
  const hidden = { detail: { hide: true } };
  return new Elysia({ name: "docs" })
    .use(
      assetsRest("docs-index", {
        // https://llmstxt.org
        "/llms.txt": asset("text", async () => llmsText(await files())),
        "/docs/page.css": asset("css", async () => palette + styles),
      }),
    )
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
      asset("html", async () => documentOf(docs, file), pageHeaders()),
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
  const pages = mainPages(docs).map((page) => {
    const name = Bun.escapeHTML(titleOf(docs, page));
    const link = `<a href="${root}${urlOf(docs, page)}"${page === file ? ' aria-current="page"' : ""}>${name}</a>`;
    return `<li>${link}${page === file && contents !== "" ? `<ul>${contents}</ul>` : ""}</li>`;
  });
  return htmlPage(
    `${Bun.escapeHTML(title)} · Skyhook docs`,
    `<header>
      <a class="home" href="${root || "./"}">Skyhook</a>
      <nav aria-label="Service"><a href="${root}docs">Docs</a> <a href="${root}console">Console</a> <a href="${root}swagger">API reference</a></nav>
    </header>
    <div class="columns">
      <nav class="pages" aria-label="Pages"><ul>${pages.join("")}</ul></nav>
      <main>${body}</main>
    </div>`,
    `<link rel="stylesheet" href="${root}docs/page.css" />`,
  );
}

/** The pages that the menu lists: the index first, and no decision records. */
function mainPages({ pages }: DocsFolder): readonly string[] {
  const names = Object.keys(pages).filter((file) => !file.includes("/") && file !== "README.md");
  return "README.md" in pages ? ["README.md", ...names] : names;
}

/** Title, summary and links to the Markdown of each page (https://llmstxt.org). */
function llmsText(docs: DocsFolder): string {
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

## Docs

${list(main)}
## Optional

${list(others)}`;
}
