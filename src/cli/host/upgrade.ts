import { mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

import type { Command } from "commander";

import { readConfig } from "../../config/config.ts";
import { openStorage } from "../../db/open.ts";
import { inspectServer, onEmptyTables } from "../../db/postgres/inspect.ts";
import { type Migration, UnfitDatabase } from "../../db/schema.ts";
import { damageOf, pendingMigrations } from "../../db/sqlite/inspect.ts";
import { schema } from "../../schema/schema.ts";
import { example } from "../kit/arguments.ts";
import { withDatabase } from "../kit/database.ts";
import { messageOf } from "../kit/errors.ts";

import { requireDatabase } from "./backup.ts";
import { draftCopy, megabytes } from "./draft-copy.ts";

const { migrations } = schema;
/** Runs each pending migration with a function. */
type Trial = (run: (migration: Migration) => Promise<unknown>) => Promise<void>;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("upgrade")
    .description("say what this version would migrate; the older server may keep running")
    .requiredOption("--check", "try it on a copy, and change nothing")
    .addHelpText("after", example("skyhook upgrade --check"))
    .action(() => checkUpgrade(env));
}

async function checkUpgrade(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const { databaseUrl: url, databaseLimits: limits } = config;
  const file = url.startsWith("postgres") ? null : requireDatabase(config);
  const pending =
    file === null
      ? (await inspectServer(schema, url, limits)).pending
      : await withDatabase(config, async () => pendingMigrations(schema, file));
  if (pending.length === 0) return console.log("Nothing to migrate: start this version");
  const tryEach: Trial = async (run) => {
    for (const migration of migrations[file === null ? "postgres" : "sqlite"]) {
      const { name, sql } = migration;
      if (!pending.includes(name)) continue;
      const startedMs = performance.now();
      await run(migration).catch((error: unknown) => {
        throw new UnfitDatabase(`${name} fails (${messageOf(error)}): keep the older version`);
      });
      console.log(`${name}: ${Math.ceil(performance.now() - startedMs)} ms`);
      if (file === null) console.log(sql.trim());
    }
  };
  await (file === null
    ? onEmptyTables(schema, url, limits, pending, tryEach)
    : onCopy(file, tryEach));
  console.log(
    file === null
      ? "Tried on empty tables, without changing yours. To try it on your rows, start this version on a restored pg_dump."
      : "Tried on a copy, which stayed intact and is removed. Only a backup leads back: make one before you upgrade.",
  );
}

/** Runs migrations on the snapshot that `skyhook backup` makes, which does not hold up the server. */
async function onCopy(file: string, tryEach: Trial): Promise<void> {
  // The copy, and its log while all of it changes.
  const needed = 2 * (Bun.file(file).size + Bun.file(`${file}-wal`).size);
  const { bavail, bsize } = statfsSync(tmpdir());
  if (bavail * bsize < needed) {
    throw new Error(`A copy needs ${megabytes(needed)} in ${tmpdir()}: set TMPDIR elsewhere`);
  }
  const folder = mkdtempSync(`${tmpdir()}/skyhook-upgrade-`);
  // Removes the copy, also if this process is killed. A statement would delay handlers of signals.
  const script = 'trap "" INT TERM HUP; cat; rm -rf "$0"';
  const guard = Bun.spawn(["sh", "-c", script, folder], { stdio: ["pipe", "ignore", "ignore"] });
  try {
    const copy = (await draftCopy(file, `${folder}/copy.db`)).file;
    await tryEach(async (migration) => {
      const sqlite = migrations.sqlite.slice(0, migrations.sqlite.indexOf(migration) + 1);
      const known = { ...schema, migrations: { ...migrations, sqlite } };
      await (await openStorage(known, `sqlite:${copy}`)).close();
    });
    const damage = damageOf(copy);
    if (damage !== null) throw new Error(`The copy is damaged (${damage}): keep the older version`);
  } finally {
    void guard.stdin.end();
  }
}
