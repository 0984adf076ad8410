import { existsSync } from "node:fs";

import { type Config, readConfig } from "../config.ts";
import { copyDatabase } from "../storage/copy.ts";
import { pendingMigrations as pendingOnServer } from "../storage/postgres/inspect.ts";
import { pendingMigrations } from "../storage/sqlite/inspect.ts";
import { withoutPassword } from "../storage/without-password.ts";

import { databaseFile, isInMemory, openDatabase, withDatabase } from "./database.ts";
import { table, UsageError } from "./output.ts";
import { progress } from "./progress.ts";

export interface CopyOptions {
  readonly from: string;
  readonly to: string;
}

/**
 * `skyhook copy`: from one database to another, of whatever kind. Run again after it was broken off, it
 * goes on. Ids, numbers, times and keys stay as they are, so cursors and idempotency keys stay good.
 */
export async function copy({ from, to }: CopyOptions, env: NodeJS.ProcessEnv): Promise<void> {
  if (from === to) throw new UsageError("--from and --to name the same database");
  const sourceConfig = readConfig({ ...env, DATABASE_URL: from });
  await withDatabase(sourceConfig, () => requireSource(sourceConfig));
  const source = await openDatabase(sourceConfig);
  try {
    const target = await openDatabase(readConfig({ ...env, DATABASE_URL: to }));
    const bar = progress("", null);
    try {
      const copied = await copyDatabase(source, target, (what, rows) =>
        bar.at(rows, `${what}: ${rows.toLocaleString("en")} rows`),
      );
      bar.end();
      const rows = copied.map(({ name, rows, sha256 }) => [name, String(rows), sha256]);
      console.log(table([["TABLE", "ROWS", "SHA-256, THE SAME ON BOTH SIDES"], ...rows]));
      console.log(
        "\nGive the new instances the same JWT_SECRET and PERSONAL_DATA_KEY (or the files jwt_secret and personal_data_key of DATA_DIR).",
      );
    } finally {
      bar.end();
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** To open a database makes what is missing, and what is copied from is to stay as it is. */
async function requireSource(config: Config): Promise<void> {
  if (isInMemory(config)) throw new UsageError("--from names memory: there is nothing to copy");
  const file = databaseFile(config);
  const name = file ?? withoutPassword(config.databaseUrl);
  if (file !== null && !existsSync(file)) {
    throw new Error(`There is no database ${file}: check --from`);
  }
  const pending =
    file === null
      ? await pendingOnServer(config.databaseUrl, config.databaseLimits)
      : pendingMigrations(file);
  if (pending.length === 0) return;
  throw new Error(
    `${name} lacks ${pending.join(", ")}: check --from, or start this skyhook on it once, which brings it up to date`,
  );
}
