import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { tools } from "../../../src/mcp/tools/tools.ts";
import { json } from "../../support/app.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();

const folder = join(import.meta.dir, "../../../docs");
const files = [...new Bun.Glob("**/*.md").scanSync(folder)].toSorted();
const sourceOf = (file: string) => readFileSync(join(folder, file), "utf8");
const urlOf = (file: string) =>
  file === "README.md" ? "/docs" : `/docs/${file.replace(/\.md$/, "")}`;

/** The path and anchor of each link in a served document, resolved as a browser would. */
async function linksOf(url: string, pattern: RegExp) {
  const text = await (await app.fetch(url)).text();
  const links = Array.from(text.matchAll(pattern), ([, link = ""]) => link);
  return links
    .map((link) => URL.parse(link, `http://localhost${url}`))
    .filter((link) => link?.host === "localhost")
    .map((link) => ({ path: link?.pathname ?? "", anchor: link?.hash.slice(1) ?? "" }));
}

describe.each(files)("docs/%s", (file) => {
  test("is served as a page and as Markdown", async () => {
    const page = await app.fetch(urlOf(file));
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const text = await page.text();
    expect(text).toContain("<main><h1 id=");
    expect(text).not.toMatch(/<script(?! defer src=)|<style|\sstyle=|\son\w+=|<!--/);
    const markdown = await app.fetch(`/docs/${file}`);
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await markdown.text()).toBe(sourceOf(file));
  });

  test("links only to what is served, and to existing sections", async () => {
    const links = await linksOf(urlOf(file), /(?:href|src)="([^"]+)"/g);
    const broken = await Promise.all(
      links.map(async ({ path, anchor }) => {
        const answer = await app.fetch(path, { headers: { accept: "text/html" } });
        const text = await answer.text();
        const isThere = answer.status === 200 && (anchor === "" || text.includes(`id="${anchor}"`));
        return isThere ? [] : [`${path}#${anchor}`];
      }),
    );
    expect(broken.flat()).toEqual([]);
    expect(links.length).toBeGreaterThan(5);
  });

  test("does not link names such as web@1.4.0 as e-mail addresses", async () => {
    const answer = await app.fetch(urlOf(file), { headers: { accept: "text/html" } });
    expect(await answer.text()).not.toContain("mailto:");
  });
});

describe("the documentation", () => {
  test("has a policy without inline scripts and styles, and validators", async () => {
    const { headers } = await app.fetch("/docs");
    expect(headers.get("content-security-policy")).toContain(
      "script-src 'self'; style-src 'self';",
    );
    const etag = headers.get("etag") ?? "";
    expect((await app.fetch("/docs", { headers: { "if-none-match": etag } })).status).toBe(304);
  });

  test("lists the pages in the order of the index, each with its neighbours", async () => {
    const text = await (await app.fetch("/docs/webhooks")).text();
    const menu = text.slice(text.indexOf('id="pages"'), text.indexOf("<main>"));
    const pages = Array.from(
      menu.matchAll(/href="(?:\.\.\/)+docs\/?([\w-]*)"/g),
      ([, name]) => name,
    );
    expect(pages.slice(0, 4)).toEqual(["", "find", "moving-in", "webhooks"]);
    expect(text).toMatch(
      /docs\/moving-in" rel="prev">[^<]+<\/a><a href="[./]+docs\/providers" rel="next">/,
    );
  });

  test.each([
    ["circuit probe", "Destinations: Control the rate and order", "docs/destinations#control-the"],
    ["idempotency key retry", "API: flights, bookings and users", "docs/api#"],
    ["rotate secrets", "Backup: Rotate webhook secrets", "docs/backup#rotate-webhook-secrets"],
  ])("a search for %s finds the section", async (words, title, url) => {
    const answer = await app.fetch(`/docs/search?${new URLSearchParams({ q: words }).toString()}`);
    expect(answer.headers.get("content-security-policy")).toContain("form-action 'self'");
    const text = await answer.text();
    const results = text.slice(text.indexOf('class="results"'));
    expect(results).toContain(title);
    // Comments of the page, which say what tests run.
    expect(results).not.toContain("&lt;!--");
    expect(results).toContain(`href="../${url}`);
    const [, link = ""] = /href="\.\.\/([^"]+)"/.exec(results) ?? [];
    const page = await (await app.fetch(`/${link.split("#")[0]}`)).text();
    expect(page).toContain(`id="${link.split("#")[1]}"`);
  });

  test("a search shows its words as text, and says if nothing has them", async () => {
    const q = `"><img src=x> ${"long ".repeat(1_000)}`;
    const text = await (
      await app.fetch(`/docs/search?${new URLSearchParams({ q }).toString()}`)
    ).text();
    expect(text).toContain("No section has all these words.");
    expect(text).not.toContain("<img src=x>");
    expect(await (await app.fetch("/docs/search")).text()).toContain("Write some words.");
  });

  test("breaks a list of names in a table after its commas", async () => {
    const text = await (await app.fetch("/docs/settings")).text();
    expect(text).toContain("<code>task_tracker,<wbr>shared_inbox,<wbr>");
  });

  test("serves its pictures", async () => {
    const answer = await app.fetch("/docs/console/event-light.webp");
    expect(answer.headers.get("content-type")).toBe("image/webp");
    const bytes = readFileSync(join(folder, "console/event-light.webp"));
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test.each(["/docs/nothing", "/docs/nothing.md", "/docs/decisions/nothing", "/docs/__proto__"])(
    "answers %s with 404",
    async (path) => {
      const answer = await app.fetch(path);
      expect(answer.status).toBe(404);
      expect((await json(answer))["code"]).toBe("not-found");
    },
  );

  test("/llms.txt names every page, with its title", async () => {
    const text = await (await app.fetch("/llms.txt")).text();
    expect(text).toStartWith("# Skyhook\n\n> ");
    const links = await linksOf("/llms.txt", /\]\(([^)]+)\)/g);
    const paths = links.map(({ path }) => path);
    expect(paths).toContainAllValues([...files.map((file) => `/docs/${file}`), "/openapi.json"]);
    const title = /^# (.+)$/m.exec(sourceOf("operations.md"))?.[1];
    expect(text).toContain(`- [${title}](docs/operations.md)`);
    const named = Array.from(text.matchAll(/^- (\w+: .+)$/gm), ([, line]) => line);
    expect(named).toEqual(tools.map(({ name, title: does }) => `${name}: ${does}`));
  });
});
