import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import manifest from "../../package.json" with { type: "json" };
import { settings } from "../../src/config/settings.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { startApp } from "../support/app.ts";

import { generatedParts, withPart } from "./generated.ts";
import { unlistedGraphqlLimits } from "./limits.ts";
import { anchorsOf, codeIn, commandBlocks, commandsOf, pages, root } from "./markdown.ts";

const sources = [...new Bun.Glob("src/**/*.{ts,sql}").scanSync(root)]
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

/** All that a pattern finds in the code of a page, by its first group. */
const named = (text: string, pattern: RegExp): readonly string[] =>
  codeIn(text).flatMap((code) => Array.from(code.matchAll(pattern), ([, name = ""]) => name));

describe.each(pages)("$file", ({ file, text }) => {
  test("has links that lead somewhere", () => {
    const prose = text.replaceAll(/^```.*?^```$/gms, "");
    const links = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link);
    const broken = links.filter((link) => !/^(?:https?|mailto):/.test(link) && isBroken(link));
    expect(broken).toEqual([]);
  });

  test("has commands that are run by a test, or says why they are not", () => {
    const unmarked = commandBlocks(text).filter(
      ({ marker }) => !/^(?:(?:run|command|client): \w|not run: \w)/.test(marker ?? ""),
    );
    expect(unmarked).toEqual([]);
  });

  test("names commands and scripts that there are", () => {
    const commands = Array.from(sources.matchAll(/\.command\("(\w+)"\)/g), ([, name]) => name);
    const used = named(text, /(?<!=[\w/]*)\bskyhook (?!serves|http:)([a-z]+)\b(?!\.)/g);
    expect(used.filter((name) => !commands.includes(name))).toEqual([]);
    const scripts = named(text, /\bbun run ([\w:]+)/g);
    expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  test("names variables that are read", () => {
    const known = new Set<string>([
      ...Object.values(settings).map(({ key }) => key),
      ...catalogue.map(({ id }) => `${id.toUpperCase()}_WEBHOOK_SECRET`),
      ...elsewhere,
    ]);
    // The examples of services have words of their own.
    const own = text.replace(/<!-- catalogue -->.*?<!-- \/catalogue -->/s, "");
    const used = named(own, /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/g);
    const unknown = used.filter(
      (name) => !known.has(name.replace(/_PREVIOUS$/, "")) && !codes.has(name),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  test("names files that there are", () => {
    const pattern = /(?<![\w./-])((?:src|test|docs|bench)\/[\w./-]+\.\w+)/g;
    const reasons = (text.match(/<!-- not run: .*? -->/g) ?? []).join("\n");
    const files = [...named(text, pattern), ...(reasons.match(pattern) ?? [])];
    const missing = files.filter((name) => !existsSync(join(root, name)) && !isToBeMade(name));
    expect(missing).toEqual([]);
  });

  function isBroken(link: string): boolean {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? file : join(dirname(file), path);
    if (!existsSync(join(root, target))) return true;
    if (anchor === undefined) return false;
    return !anchorsOf(readFileSync(join(root, target), "utf8")).has(anchor);
  }
});

/** Read elsewhere than in the table of settings, or by a page's own commands. */
const elsewhere = [
  "PERSONAL_DATA_KEY",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_ROLE_ARN",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "NODE_EXTRA_CA_CERTS",
  "TEST_POSTGRES_URL",
  "TEST_SKIPS",
  "FULL_PROPERTIES",
  "UPDATE_DOCS",
  "DEPLOY_API_TOKEN",
  "NODE_ENV",
  "USER_TOKEN",
  "OPERATOR_TOKEN",
  "ADMIN_TOKEN",
  "SKYHOOK_MCP_TOKEN",
  "STATUS_PAGE_WEBHOOK_SECRET",
  "SLACK_WEBHOOK_SECRET",
  "SLACK_URL",
  "SKYHOOK_PROGRAM",
  "SKYHOOK_COMMIT",
  "NEW_SECRET",
  "MINISIGN_KEY",
  "SKYHOOK_INSTALL_DIR",
  "SKYHOOK_BASE_URL",
];
/** Upper case, and no variables: GraphQL's codes. */
const codes = new Set([
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_RESOLUTION_FAILURE",
  "BAD_USER_INPUT",
  "LIMIT_EXCEEDED",
  "NOT_ACCEPTABLE",
]);
/** What a reader of CONTRIBUTING.md makes. */
const isToBeMade = (file: string): boolean => /\/status_page(?:\.samples)?\.ts$/.test(file);

test("architecture.md and the decision records name files that exist", () => {
  const files = [...new Bun.Glob("{src,test}/**/*.{ts,tsx}").scanSync(root)];
  const used = pages
    .filter(({ file }) => /^docs\/(?:architecture|decisions\/.*)\.md$/.test(file))
    .flatMap(({ text }) => named(text, /(?<![\w.<>*/-])([\w-][\w/-]*(?:\.\w+)?\.tsx?)\b/g));
  expect(used.length).toBeGreaterThan(100);
  expect(used.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
});

test("all routes that pages name are there", async () => {
  await using app = await startApp();
  const routes = app.app.routes.map(({ method, path }) => `${method} ${path}`);
  const all = pages.flatMap(({ text }) =>
    codeIn(text).flatMap((code) => [
      ...code.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w./{}:-]*)/g),
    ]),
  );
  const used = all.map(([, method = "", path = ""]) => ({ method, path: shape(path) }));
  expect(used.length).toBeGreaterThan(20);
  const known = routes.map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path: shape(path) };
  });
  const unknown = used.filter(
    ({ method, path }) =>
      !known.some((route) => ["ALL", method].includes(route.method) && route.path === path),
  );
  expect(unknown).toEqual([]);
});

/** A path with its parameters nameless. */
const shape = (path: string): string => path.replaceAll(/\{\w+\}|:\w+|\b\d{4}-\d\d-\d\d\b/g, "{}");

test.each(generatedParts())("$file has what the code says of $name", (part) => {
  const text = readFileSync(join(root, part.file), "utf8");
  expect(text, "run `bun run docs` to update it").toBe(withPart(text, part));
});

test("docs/security.md has every GraphQL limit", () => {
  expect(unlistedGraphqlLimits()).toEqual([]);
});

test("CONTRIBUTING.md has the test command of the README", () => {
  const [contributing, readme] = ["CONTRIBUTING.md", "README.md"].map((file) =>
    commandsOf(file, "command: test"),
  );
  expect(contributing).toBe(readme ?? "");
});
