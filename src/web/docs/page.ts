import { posix } from "node:path";

import type { DocsFolder } from "./docs.embedded.ts";

/** One page as HTML, with links that lead to the pages as this program serves them. */
interface RenderedPage {
  readonly title: string;
  readonly body: string;
  /** The headings of the second level: the page's table of contents. */
  readonly sections: readonly { readonly id: string; readonly html: string }[];
}

/** Renders `docs.pages[file]`. The docs are our own, so their HTML is not sanitised. */
export function renderPage(docs: DocsFolder, file: string): RenderedPage {
  const sections: RenderedPage["sections"][number][] = [];
  const html = Bun.markdown
    .html(docs.pages[file] ?? "", { autolinks: { url: true } })
    .replaceAll(/<h([1-6])>(.*?)<\/h\1>/g, (_, level: string, inner: string) => {
      const id = anchorOf(inner);
      if (level === "2") sections.push({ id, html: withoutLinks(inner) });
      return `<h${level} id="${id}">${inner}</h${level}>`;
    });
  return { title: titleOf(docs, file), body: withServedLinks(html, docs, file), sections };
}

/** The page's first heading, as text. */
export function titleOf({ pages }: DocsFolder, file: string): string {
  return plainText(/^# (.+)$/m.exec(pages[file] ?? "")?.[1] ?? file);
}

/** The first sentence below the page's title, as text. Empty if no paragraph follows the title. */
export function summaryOf({ pages }: DocsFolder, file: string): string {
  const [, paragraph = ""] = /^# .+\n+((?!```|[-*<|!#>])(?:.+\n?)+)/.exec(pages[file] ?? "") ?? [];
  return plainText(/^.*?[.:](?=\s|$)/s.exec(paragraph)?.[0] ?? paragraph).replace(/:$/, ".");
}

/** A part of a page below one heading of the first three levels. */
interface Section {
  readonly heading: string;
  readonly id: string;
  readonly text: string;
}

/** The sections of a page, for a search. */
export function sectionsOf(markdown: string): readonly Section[] {
  return markdown.split(/^(?=#{1,3} )/m).map((part) => {
    const [line = "", ...rest] = part.split("\n");
    const heading = plainText(line.replace(/^#+ /, ""));
    return { heading, id: anchorOf(heading), text: rest.join("\n") };
  });
}

export function plainText(markdown: string): string {
  const shown = markdown.replaceAll(/<!--.*?-->/gs, "");
  const withoutTargets = shown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return withoutTargets.replaceAll(/[`*]/g, "").replaceAll(/\s+/g, " ").trim();
}

const withoutLinks = (html: string): string => html.replaceAll(/<\/?a\b[^>]*>/g, "");

/** The anchor that GitHub gives a heading, so that links work there and here. Bun's own drop the `_`. */
function anchorOf(headingHtml: string): string {
  return headingHtml
    .replaceAll(/<[^>]*>|&\w+;/g, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function withServedLinks(html: string, docs: DocsFolder, file: string): string {
  const toRoot = pathToRoot(file);
  const served = (link: string): string | null => {
    if (/^(?:[a-z]+:|#)/i.test(link)) return link;
    const [path = "", anchor] = link.split("#");
    const target = posix.normalize(posix.join(posix.dirname(file), path));
    const url = urlOf(docs, target);
    return url === null ? null : toRoot + url + (anchor === undefined ? "" : `#${anchor}`);
  };
  let heads: string[] = [];
  let column = 0;
  return (
    new HTMLRewriter()
      // On a phone, each cell of a wide table is on its own line, after the head of its column.
      .on("thead", { element: () => void (heads = []) })
      .on("th", {
        element: () => void heads.push(""),
        text: ({ text }) => void heads.push((heads.pop() ?? "") + text),
      })
      .on("tr", { element: () => void (column = 0) })
      .on("td", { element: (cell) => void cell.setAttribute("data-head", heads[column++] ?? "") })
      // A list of names without spaces breaks after its commas, so that its table is not wider than the page.
      .on("td code", {
        text: (code) => void code.replace(code.text.replaceAll(",", ",<wbr>"), { html: true }),
      })
      .on("a[href]", {
        element(link) {
          const url = served(link.getAttribute("href") ?? "");
          // A file of the repository that this program does not serve.
          if (url === null) link.removeAndKeepContent();
          else link.setAttribute("href", url);
        },
      })
      .on("img[src]", {
        element(picture) {
          const url = served(picture.getAttribute("src") ?? "");
          if (url === null) picture.remove();
          else picture.setAttribute("src", url);
        },
      })
      // Wide code and tables scroll by themselves, not with the page. Focusable, so that the keyboard can scroll them.
      .on("pre", { element: (code) => void code.setAttribute("tabindex", "0") })
      .on("table", {
        element(table) {
          table.before('<div class="table" tabindex="0">', { html: true });
          table.after("</div>", { html: true });
        },
      })
      .onDocument({ comments: (comment) => void comment.remove() })
      .transform(html)
  );
}

/** The relative URL of the program's root, seen from the page: the program may be served below a path. */
export function pathToRoot(file: string): string {
  return file === "README.md" ? "" : "../".repeat(file.split("/").length);
}

/** Where a file below docs/ is served, without the leading slash; null if it is not served. */
export function urlOf({ pages, pictures }: DocsFolder, file: string): string | null {
  if (file === "README.md") return "docs";
  if (file in pages) return `docs/${file.replace(/\.md$/, "")}`;
  return file in pictures ? `docs/${file}` : null;
}
