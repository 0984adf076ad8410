import { readConfig } from "../config.ts";
import { copyDatabase } from "../storage/copy.ts";

import { openDatabase } from "./database.ts";
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
  const source = await openDatabase(readConfig({ ...env, DATABASE_URL: from }));
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
