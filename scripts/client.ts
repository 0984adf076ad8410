// Builds the npm package skyhook-client into dist/client: types from the API's own documents, and the code in src/client.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { buildSchema, introspectionFromSchema } from "graphql";
import openapiTypes, { astToString } from "openapi-typescript";

import { version } from "../src/base/version.ts";
import { catalogue } from "../src/inbound/providers/catalogue.ts";
import { startApp } from "../test/support/app.ts";

const root = join(import.meta.dir, "..");

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
}
interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** The OpenAPI document of a server with all built-in providers. */
async function apiDocument(): Promise<ApiDocument> {
  const app = await startApp({ WEBHOOK_PROVIDERS: catalogue.map(({ id }) => id).join(",") });
  try {
    const answer = await app.fetch("/openapi.json");
    // Guarantee: the document that Skyhook makes; a test validates it.
    return (await answer.json()) as ApiDocument;
  } finally {
    await app.stop();
  }
}

/** The paths whose POST takes an Idempotency-Key. */
function keyedPaths({ paths }: ApiDocument): readonly string[] {
  const isKeyed = (operation: Operation | undefined) =>
    operation?.parameters?.some(({ name }) => name.toLowerCase() === "idempotency-key") === true;
  return Object.keys(paths).filter((path) => isKeyed(paths[path]?.["post"]));
}

function entry(document: ApiDocument): string {
  const union = (prefix: string) =>
    Object.keys(document.components.schemas)
      .filter((name) => name.startsWith(prefix))
      .map((name) => `  | Schemas["${name}"]`)
      .join("\n");
  return `import { type Client as ClientOf, createClientFor } from "./client.ts";
import type { components, paths } from "./openapi.ts";
import type { ClientOptions } from "./requests.ts";
import { verifyAs } from "./verify.ts";

export type { components, paths } from "./openapi.ts";
export type { FeedMessage, FeedOptions } from "./feed.ts";
export type { ClientOptions } from "./requests.ts";
export { data, type FieldError, SkyhookError } from "./errors.ts";

type Schemas = components["schemas"];

/** A message of the format \`json\`. Ignore types that you do not know: new ones can be added. */
export type WebhookEvent =
${union("Event_")};

/** A message of the format \`cloudevents\`. */
export type CloudEvent =
${union("CloudEvent_")};

export type Client = ClientOf<paths>;

export const createClient = (options: ClientOptions): Client =>
  createClientFor<paths>(options, ${JSON.stringify(keyedPaths(document))});

type Verify<Message> = (
  ...given: Parameters<typeof verifyAs>
) => Message;

export const verify: Verify<WebhookEvent> = (...given) => verifyAs<WebhookEvent>(...given);

export const verifyCloudEvent: Verify<CloudEvent> = (...given) => verifyAs<CloudEvent>(...given);
`;
}

const manifest = (dependencies: Readonly<Record<string, string>>) => ({
  name: "skyhook-client",
  version,
  description: "A typed client for Skyhook: REST, feeds, webhooks and GraphQL",
  license: "MIT",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  exports: {
    ".": { types: "./index.d.ts", default: "./index.js" },
    "./graphql": { types: "./graphql.d.ts", default: "./graphql.js" },
    // TypeScript resolves no file of this kind.
    "./schema.graphql": { types: "./schema.graphql.d.ts", default: "./schema.graphql" },
    "./openapi.json": "./openapi.json",
    "./package.json": "./package.json",
  },
  files: ["*.js", "*.d.ts", "schema.graphql", "openapi.json", "README.md", "LICENSE"],
  dependencies,
});

/** Of the GraphQL document. It is no module: nothing can be imported from it. */
const schemaTypes = `/** Get the path with \`import.meta.resolve("skyhook-client/schema.graphql")\`. */
export {};
`;

/** Writes the package to `folder`, which must be below the packages of this repository. */
export async function buildClient(folder: string): Promise<void> {
  const sources = join(folder, "build");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  for (const name of ["client", "errors", "feed", "requests", "verify"]) {
    cpSync(join(root, "src/client", `${name}.ts`), join(sources, `${name}.ts`));
  }
  const document = await apiDocument();
  const source = JSON.stringify(document);
  await Bun.write(join(sources, "openapi.ts"), astToString(await openapiTypes(source)));
  await Bun.write(join(sources, "index.ts"), entry(document));
  await compile(folder, sources);
  const schema = await Bun.file(join(root, "schema.graphql")).text();
  const introspection = JSON.stringify(introspectionFromSchema(buildSchema(schema)));
  const types = `/** For gql.tada. */
export type introspection = ${introspection};

/** What the custom scalars are in JSON. */
export interface Scalars {
  DateTime: string;
  Date: string;
  EmailAddress: string;
  Money: number;
}
`;
  const { dependencies, devDependencies } = await Bun.file(join(root, "package.json")).json();
  const all = { ...devDependencies, ...dependencies };
  const used = ["eventsource-parser", "openapi-fetch", "standardwebhooks"].map(
    (name) => [name, `^${all[name]}`] as const,
  );
  await Promise.all([
    Bun.write(join(folder, "graphql.d.ts"), types),
    Bun.write(join(folder, "graphql.js"), "export {};\n"),
    Bun.write(join(folder, "schema.graphql"), schema),
    Bun.write(join(folder, "schema.graphql.d.ts"), schemaTypes),
    Bun.write(join(folder, "openapi.json"), source),
    Bun.write(join(folder, "README.md"), Bun.file(join(root, "src/client/README.md"))),
    Bun.write(join(folder, "LICENSE"), Bun.file(join(root, "LICENSE"))),
    Bun.write(
      join(folder, "package.json"),
      `${JSON.stringify(manifest(Object.fromEntries(used)), null, 2)}\n`,
    ),
  ]);
  rmSync(sources, { recursive: true });
}

/** Compiles with TypeScript itself, for the declarations. */
async function compile(folder: string, sources: string): Promise<void> {
  const options = {
    compilerOptions: {
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
      module: "nodenext",
      strict: true,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      skipLibCheck: true,
      types: [],
      rootDir: ".",
      outDir: folder,
    },
    files: ["index.ts"],
  };
  await Bun.write(join(sources, "tsconfig.json"), JSON.stringify(options));
  await Bun.write(join(sources, "package.json"), '{"type":"module"}');
  const tsc = Bun.spawn(
    [process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", sources],
    {
      stdout: "inherit",
      stderr: "inherit",
    },
  );
  if ((await tsc.exited) !== 0) throw new Error("The client could not be compiled");
}

if (import.meta.main) {
  const folder = join(root, "dist/client");
  await buildClient(folder);
  console.log(`Wrote dist/client. Pack it with: npm pack ./dist/client`);
}
