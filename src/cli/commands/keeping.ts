import type { Command } from "commander";

import type { BackupOptions } from "../backup.ts";
import type { CopyOptions } from "../copy.ts";
import type { RestoreOptions } from "../restore.ts";

import { example } from "./declare.ts";

// Guarantee of the actions: see `declare` in ../cli.ts.

/** Commands that copy the database. */
export function declareKeeping(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("backup")
      .description("copy the database as it is at this moment, also while the server runs")
      .argument("<file>", "the copy; not there yet")
      .option("--force", "replace the file where it is there"),
    "skyhook backup /backups/skyhook-$(date +%F).db",
  ).action(async (file: string, options: BackupOptions) => {
    const { backup } = await import("../backup.ts");
    await backup(file, options, env);
  });

  example(
    program
      .command("restore")
      .description("put a backup in the place of the database; the server must be stopped")
      .argument("<file>", "what `skyhook backup` made; stays as it is")
      .option("--force", "also where a database is there; that one is kept under another name"),
    "skyhook restore /backups/skyhook-2026-11-21.db",
  ).action(async (file: string, options: RestoreOptions) => {
    const { restore } = await import("../restore.ts");
    await restore(file, options, env);
  });

  example(
    program
      .command("copy")
      .description(
        "copy one database to another, empty one, and compare them; stop the servers first",
      )
      .requiredOption("--from <url>", "as sqlite:./data/skyhook.db")
      .requiredOption("--to <url>", "as postgres://user:password@host:5432/database"),
    "skyhook copy --from sqlite:./data/skyhook.db --to postgres://skyhook@localhost/skyhook",
  ).action(async (options: CopyOptions) => {
    const { copy } = await import("../copy.ts");
    await copy(options, env);
  });
}
