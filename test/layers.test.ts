import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";

import { preProcessFile } from "typescript";

/**
 * The layers of src/, lowest first: folders, then single files. A file imports from its own layer and from
 * lower ones, types included; nothing else. A folder without its subfolders is a layer too: `inbound` is
 * the files directly in src/inbound/, `.` those directly in src/.
 */
const layers = [
  "client",
  "base",
  "telemetry",
  "db",
  "web",
  "web/docs",
  "web/graphql",
  "web/rest",
  "identity",
  "identity/idempotency",
  "identity/users",
  "identity/auth",
  "identity/audit",
  "identity/sessions",
  "identity/oidc",
  "identity/room.rest.ts",
  "event",
  "outbound/transports",
  "outbound/transports/brokers",
  "outbound/formats",
  "outbound/model",
  "outbound/filters",
  "outbound/notifications",
  "outbound/deliveries",
  "outbound/destinations",
  "outbound/room.rest.ts",
  "inbound/model",
  "inbound/signatures",
  "inbound/providers",
  "inbound/rejections",
  "inbound/receive",
  "inbound/onboarding",
  "inbound/provider-status",
  "inbound/provider-api",
  "inbound/reconcile",
  "inbound/room.rest.ts",
  "events",
  "events/retention",
  "operations",
  "operations/statistics",
  "operations/issues",
  "operations/room.rest.ts",
  "booking/model",
  "booking/events",
  "booking/flights",
  "booking/flights/import",
  "booking/personal-data",
  "booking/seats",
  "booking/payments",
  "booking/bookings",
  "booking/changes",
  "booking",
  "schema",
  "persons",
  "config",
  "console/page/kit",
  "console/page/kit/list",
  "console/page/kit/event",
  "console/page/access",
  "console/page/bookings",
  "console/page/destinations",
  "console/page/events",
  "console/page/health",
  "console/page/providers",
  "console/page/replays",
  "console/page/session",
  "console/page",
  "console",
  "mcp",
  "mcp/tools",
  "mcp/server",
  "wiring",
  ".",
  "cli/kit",
  "cli/host/checks",
  "cli/host",
  "cli/operate",
  "cli/develop",
  "cli/demo",
  "cli",
  "main.ts",
] as const;
type Layer = (typeof layers)[number];

/** A layer and those inside it. */
function within(room: string): readonly Layer[] {
  return layers.filter((layer) => layer === room || layer.startsWith(`${room}/`));
}

/** Rooms side by side, of which none knows another. */
const apart: readonly (readonly Layer[])[] = [
  layers.filter((layer) => /^console\/page\/(?!kit)/.test(layer)),
  ["cli/host", "cli/operate", "cli/develop"],
];

/** Which layers import a package, and which kinds of files do in every layer. */
const packages: Readonly<Record<string, { layers: readonly Layer[]; kinds?: readonly string[] }>> =
  {
    "@opentelemetry": { layers: ["telemetry"] },
    pino: { layers: ["telemetry"] },
    "prom-client": { layers: ["telemetry"] },
    "sonic-boom": { layers: ["telemetry"] },
    bun: { layers: ["db"] },
    "bun:sqlite": { layers: ["db"] },
    "drizzle-orm": { layers: ["db"], kinds: [".sql.ts"] },
    "@elysiajs/openapi": { layers: ["web/rest"] },
    elysia: { layers: ["web/rest", "."], kinds: [".rest.ts"] },
    "@graphql-yoga": { layers: ["web/graphql"] },
    "@pothos": { layers: ["web/graphql"] },
    dataloader: { layers: ["web/graphql"] },
    graphql: { layers: ["web/graphql"], kinds: [".graphql.ts"] },
    "graphql-jit": { layers: ["web/graphql"] },
    "graphql-yoga": { layers: ["web/graphql"] },
    "@elysiajs/jwt": { layers: ["identity/auth"] },
    jose: { layers: ["identity/auth", "inbound/signatures"] },
    oauth4webapi: { layers: ["identity/oidc"] },
    papaparse: { layers: ["booking/flights", "booking/flights/import"] },
    nodemailer: { layers: ["outbound/transports/brokers"] },
    "@marcbachmann/cel-js": { layers: ["outbound/filters"] },
    yaml: { layers: ["inbound/providers"] },
    preact: { layers: within("console") },
    uplot: { layers: ["console", "console/page/kit"] },
    commander: { layers: within("cli") },
    "@modelcontextprotocol/server": { layers: ["mcp/server"] },
  };

const root = join(import.meta.dir, "../src");
const sources = new Map(
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => [".ts", ".tsx"].includes(extname(file)))
    .toSorted()
    .map((file) => [file, readFileSync(join(root, file), "utf8")]),
);

interface Import {
  readonly from: string;
  readonly to: string;
}

const imports = [...sources].flatMap(([from, source]) =>
  preProcessFile(source).importedFiles.map(({ fileName: to }) => ({ from, to })),
);
/** Imports between our own files, by path below src/. What lies outside src/ has no layer. */
const internal: readonly Import[] = imports
  .filter(({ to }) => to.startsWith("."))
  .map(({ from, to }) => ({ from, to: normalize(join(dirname(from), to)) }))
  .filter(({ to }) => !to.startsWith(".."));

/** The deepest layer that contains the file: `cli/checks/x.ts` is in `cli`. */
function layerOf(file: string): Layer {
  for (let folder = file; ; folder = dirname(folder)) {
    const layer = layers.find((name) => name === folder);
    if (layer !== undefined) return layer;
  }
}

const heightOf = (file: string): number => layers.indexOf(layerOf(file));
const shown = ({ from, to }: Import): string => `${from} → ${to}`;

describe("imports", () => {
  test("of files point down or stay in their layer", () => {
    const wrong = internal.filter(({ from, to }) => heightOf(to) > heightOf(from));
    expect(wrong.map(shown)).toEqual([]);
  });

  test("of rooms side by side do not exist", () => {
    const wrong = internal.filter(({ from, to }) =>
      apart.some(
        (rooms) =>
          rooms.includes(layerOf(from)) &&
          rooms.includes(layerOf(to)) &&
          layerOf(from) !== layerOf(to),
      ),
    );
    expect(wrong.map(shown)).toEqual([]);
  });

  test("of files form no cycle", () => {
    expect(cycles()).toEqual([]);
  });

  test.each(Object.entries(packages))("of %s stay where they belong", (name, allowed) => {
    const wrong = imports
      .filter(({ to }) => to === name || to.startsWith(`${name}/`))
      .filter(({ from }) => !allowed.layers.includes(layerOf(from)))
      .filter(({ from }) => allowed.kinds?.some((kind) => from.endsWith(kind)) !== true);
    expect(wrong.map(shown)).toEqual([]);
  });

  test("of web/rest are in routes and in what mounts them, not in services or GraphQL", () => {
    const wrong = internal
      .filter(({ to }) => to.startsWith("web/rest/"))
      .filter(({ from }) => !from.startsWith("web/rest/") && !from.endsWith(".rest.ts"))
      .filter(({ from }) => layerOf(from) !== ".");
    expect(wrong.map(shown)).toEqual([]);
  });

  test("of browser code reach only types, files that import no package, and the client", () => {
    const scanner = new Bun.Transpiler({ loader: "tsx" });
    const page = "console/page/";
    const reached = new Set([...sources.keys()].filter((file) => file.startsWith(page)));
    const taken: Import[] = [];
    // A set visits what is added meanwhile.
    for (const from of reached) {
      for (const { path: to } of scanner.scanImports(sources.get(from) ?? "")) {
        if (to.startsWith(".")) reached.add(join(dirname(from), to));
        else if (!from.startsWith(page) && !from.startsWith("client/")) taken.push({ from, to });
      }
    }
    expect(taken.map(shown)).toEqual([]);
  });

  test("name what they import: no default exports, no re-exports", () => {
    const offenders = [...sources].filter(([, source]) =>
      /^export default|^export \* from|^export (?:type )?\{[^}]*\} from/m.test(source),
    );
    expect(offenders.map(([file]) => file)).toEqual([]);
  });
});

test("no file is loaded as a macro: see `embedded` in scripts/build.ts", () => {
  const offenders = [...sources].filter(([, source]) => /type: "macro"/.test(source));
  expect(offenders.map(([file]) => file)).toEqual([]);
});

test("every layer has files", () => {
  const used = new Set([...sources.keys()].map(layerOf));
  expect(layers.filter((layer) => !used.has(layer))).toEqual([]);
});

describe("a room that can be taken out", () => {
  const page = readFileSync(join(root, "../docs/architecture.md"), "utf8");
  const [, section = ""] = page.split("## Take a room out\n");
  const [table = ""] = section.split("\n## ");
  const rows = [...table.matchAll(/^\| (.*) \| (`.*`) \| (`.*`) \|$/gm)];
  const paths = (cell = "") => [...cell.matchAll(/`([^`]*)`/g)].map(([, path = ""]) => path);

  test("is each of seven", () => expect(rows).toHaveLength(7));

  test.each(rows.map(([, room = "", deleted, mended]) => [room, deleted, mended] as const))(
    "%s: few files import it",
    (_, deleted, mended) => {
      const room = paths(deleted);
      const isInside = (file: string) => room.some((path) => file.startsWith(path));
      const importers = internal.filter(({ from, to }) => isInside(to) && !isInside(from));
      const files = [...new Set(importers.map(({ from }) => from))];
      expect(files.toSorted()).toEqual(paths(mended).toSorted());
      expect(files.length).toBeLessThanOrEqual(5);
    },
  );
});

/** Each cycle of files once, as a path. */
function cycles(): string[] {
  const importsOf = Map.groupBy(internal, ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) return void found.push([...path.slice(start), file].join(" → "));
    if (done.has(file)) return;
    for (const { to } of importsOf.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of sources.keys()) visit(file, []);
  return found;
}
