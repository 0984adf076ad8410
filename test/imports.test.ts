import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const source = join(import.meta.dir, "../src");
const files = [...new Bun.Glob("**/*.{ts,tsx}").scanSync(source)]
  .filter((file) => !file.endsWith(".d.ts"))
  .toSorted();

/** What a file imports, type-only lines included: our own files by path, packages by name. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), "utf8");
  const found = text.matchAll(/(?:from|import\() ?"([^"]+)"/g);
  return [...found].map(([, name = ""]) =>
    name.startsWith(".") ? normalize(join(dirname(file), name)) : name,
  );
}

/** What kind of file it is, by name and place: docs/architecture.md says who may import whom. */
function kindOf(file: string): string {
  if (file === "main.ts" || file === "build.ts") return file.replace(".ts", "");
  if (file.startsWith("cli/")) return "cli";
  if (file === "app.ts" || file === "services.ts") return file.replace(".ts", "");
  if (file.startsWith("console/page/")) return "page";
  if (file.startsWith("http/")) return "http";
  if (file.endsWith(".rest.ts")) return "door";
  if (file.endsWith(".graphql.ts")) return "graphql door";
  if (file.startsWith("graphql/")) return "graphql";
  if (file.startsWith("storage/")) return "storage";
  return file.includes("/") ? "core" : "root";
}

const rules: readonly (readonly [string, (from: string, to: string) => boolean])[] = [
  [
    "only storage/ sees drizzle",
    (from, to) => !to.startsWith("drizzle-orm") || kindOf(from) === "storage",
  ],
  [
    "only storage/sqlite/ sees SQLite",
    (from, to) => !/^(bun|node):sqlite$/.test(to) || from.startsWith("storage/sqlite/"),
  ],
  [
    "only storage/postgres/ sees Bun's SQL client",
    (from, to) => to !== "bun" || from.startsWith("storage/postgres/"),
  ],
  [
    "only doors, http/ and app.ts see Elysia",
    (from, to) => to !== "elysia" || ["door", "http", "app"].includes(kindOf(from)),
  ],
  [
    "only main.ts, and build.ts that compiles it, import cli/",
    (from, to) => !to.startsWith("cli/") || ["main", "build", "cli"].includes(kindOf(from)),
  ],
  ["only app.ts imports doors", (from, to) => !to.endsWith(".rest.ts") || from === "app.ts"],
  [
    "only graphql/ and GraphQL doors see GraphQL's packages",
    (from, to) =>
      !/^(graphql|@pothos|@graphql-yoga|graphql-yoga|graphql-jit|dataloader)(\/|-|$)/.test(to) ||
      to.endsWith(".ts") ||
      kindOf(from).startsWith("graphql"),
  ],
  [
    "only graphql/schema.ts imports GraphQL doors",
    (from, to) => !to.endsWith(".graphql.ts") || from === "graphql/schema.ts",
  ],
  [
    "GraphQL doors import their own verb and noun, graphql/, http/, pagination/ and who asks",
    (from, to) =>
      kindOf(from) !== "graphql door" ||
      !to.endsWith(".ts") ||
      dirname(to) === dirname(from) ||
      /^(graphql|http|pagination)\//.test(to) ||
      ["context.ts", "auth/while-signed-in.ts"].includes(to),
  ],
  [
    "only GraphQL doors import graphql/, but for its own door",
    (from, to) =>
      !to.startsWith("graphql/") ||
      to.endsWith(".rest.ts") ||
      (from === "app.ts" && to === "graphql/context.ts") ||
      /graphql/.test(kindOf(from)) ||
      from === "graphql/graphql.rest.ts",
  ],
  [
    "only cli/ and app.ts import app.ts and services.ts",
    (from, to) => !["app.ts", "services.ts"].includes(to) || ["app", "cli"].includes(kindOf(from)),
  ],
  [
    "only doors, graphql/, app.ts and services.ts import http/",
    (from, to) =>
      !to.startsWith("http/") ||
      ["door", "graphql door", "graphql", "http", "app", "services"].includes(kindOf(from)),
  ],
  [
    "nothing imports console/page/, which is for browsers",
    (from, to) => !/^console\/page\/.*\.tsx?$/.test(to) || kindOf(from) === "page",
  ],
  [
    "console/page/ takes preact and uplot alone to the browser",
    (from, to) =>
      kindOf(from) !== "page" || /\.(tsx?|css)$/.test(to) || /^(preact|uplot)(\/|$)/.test(to),
  ],
  [
    "storage/ imports nouns, errors and telemetry only",
    (from, to) =>
      kindOf(from) !== "storage" ||
      !/s\.ts$|receive|notifier|outbox/.test(to) ||
      to.startsWith("storage") ||
      to.startsWith("telemetry/") ||
      to === "errors.ts",
  ],
];

describe("imports", () => {
  const edges = files.flatMap((from) => importsOf(from).map((to) => [from, to] as const));

  test.each(rules)("%s", (_, allowed) => {
    expect(edges.filter(([from, to]) => !allowed(from, to))).toEqual([]);
  });

  test("of console/page/ take nothing but types from the rest of the program", () => {
    const taken = files
      .filter((file) => kindOf(file) === "page")
      .flatMap((file) => valueImportsOf(file))
      .filter((to) => !to.startsWith("console/page/"));
    expect(taken).toEqual([]);
  });

  test("form no cycle of values", () => {
    const graph = new Map(files.map((file) => [file, valueImportsOf(file)]));
    expect(files.flatMap((file) => cycleFrom(file, graph))).toEqual([]);
  });

  test("know no default exports and no barrels", () => {
    const offenders = files.filter((file) => {
      const text = readFileSync(join(source, file), "utf8");
      return /^export default|^export \* from|^export \{[^}]*\} from/m.test(text);
    });
    expect(offenders).toEqual([]);
  });
});

/** Our own files that a file needs at run time. */
function valueImportsOf(file: string): string[] {
  const text = readFileSync(join(source, file), "utf8").replaceAll(/^import type [^;]+;/gm, "");
  const found = text.matchAll(/^(?:import|\}) ?[^;"]*from "(\.[^"]+)"/gm);
  return [...found].map(([, name = ""]) => normalize(join(dirname(file), name)));
}

/** The first cycle found from a file, as a path; empty when there is none. */
function cycleFrom(start: string, graph: ReadonlyMap<string, readonly string[]>): string[] {
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return file === start ? [[...path, file].join(" → ")] : [];
    for (const next of graph.get(file) ?? []) {
      const found = visit(next, [...path, file]);
      if (found.length > 0) return found;
    }
    return [];
  };
  return visit(start, []);
}
