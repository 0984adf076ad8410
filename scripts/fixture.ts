// Makes test/fixtures/VERSION: data of this program, which later versions must read. Run it at a release:
// TEST_POSTGRES_URL=postgres://… bun scripts/fixture.ts 0.1.0
import { Database } from "bun:sqlite";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { catalogue } from "../src/inbound/providers/catalogue.ts";
import { testSecret } from "../test/support/app.ts";
import { postgresDatabase } from "../test/support/databases.ts";
import { databaseIn, jwtSecret, startIn } from "../test/support/load.ts";
import { removeFolder, temporaryFolder } from "../test/support/program.ts";
import {
  dumpedSchema,
  hashesOfMigrations,
  type Release,
  releaseFile,
  startOnRelease,
  stateOf,
} from "../test/support/releases.ts";

import { fill, succeed } from "./release-data.ts";

const folder = temporaryFolder();
const env = {
  ...Object.fromEntries(
    catalogue.map(({ id }) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, testSecret(id)]),
  ),
  WEBHOOK_PROVIDERS: catalogue.map(({ id }) => id).join(","),
  PERSONAL_DATA_KEY: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
  DESTINATIONS_ALLOW_PRIVATE: "true",
  DATA_DIR: join(folder, "data"),
  JWT_SECRET: jwtSecret,
};

/** Starts the program, fills its database, and stops it. */
async function filled() {
  const server = await startIn(folder, env);
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(null, { status: url.endsWith("/ok") ? 200 : 404 }),
  });
  try {
    const running = { ...server, env: { ...server.env, ...env } };
    return await fill(running, receiver.url.href);
  } finally {
    await server.stop();
    await receiver.stop(true);
  }
}

/** Copies the database to PostgreSQL, and returns it as SQL. */
async function dumped(file: string): Promise<string> {
  await using database = await postgresDatabase();
  const { searchParams } = new URL(database.url);
  const schema = searchParams.get("search_path");
  if (schema === null) throw new Error("Set TEST_POSTGRES_URL to a PostgreSQL server");
  await succeed({ cwd: folder, env }, "copy", "--from", `sqlite:${file}`, "--to", database.url);
  const url = new URL(database.url);
  url.search = "";
  const options = ["--schema", schema, "--no-owner", "--no-privileges", "--inserts"];
  const { stdout, stderr, success } = Bun.spawnSync(["pg_dump", ...options, url.href]);
  if (!success) throw new Error(stderr.toString());
  return stdout
    .toString()
    .replaceAll(schema, dumpedSchema)
    .replaceAll(/^(?:CREATE SCHEMA .*|\\.*|--.*|)\n/gm, "");
}

function emptyTablesOf(file: string): readonly string[] {
  using database = new Database(file, { readonly: true });
  const names = database
    .query("select name from sqlite_schema where type = 'table' and sql not like '%virtual%'")
    .values()
    .flat();
  return names.map(String).filter((name) => {
    const [row] = database.query(`select 1 from "${name}" limit 1`).values();
    return row === undefined;
  });
}

async function make(version: string): Promise<void> {
  const keys = { personalDataKey: env.PERSONAL_DATA_KEY, ...(await filled()) };
  const madeAt = new Date(Date.now() + 1_000).toISOString();
  const file = join(folder, "release.db");
  await succeed({ cwd: folder, env }, "backup", file);
  const files = {
    "skyhook.db.zst": await Bun.file(file).bytes(),
    "postgres.sql.zst": Buffer.from(await dumped(databaseIn(folder))),
  };
  console.log(`Tables without a row: ${emptyTablesOf(file).join(", ")}`);
  const release: Release = { keys, madeAt, migrations: hashesOfMigrations() };
  // Changes the file, which is already read.
  const app = await startOnRelease(`sqlite:${file}`, release);
  const state = JSON.stringify(await stateOf(app), null, 2);
  await app.stop();
  mkdirSync(releaseFile(version, ""), { recursive: true });
  for (const [name, bytes] of Object.entries({ ...files, "state.json.zst": Buffer.from(state) })) {
    writeFileSync(releaseFile(version, name), Bun.zstdCompressSync(bytes, { level: 19 }));
  }
  writeFileSync(releaseFile(version, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
}

try {
  const [, , version] = process.argv;
  if (version === undefined) throw new Error("Usage: bun scripts/fixture.ts VERSION");
  await make(version);
} finally {
  removeFolder(folder);
}
