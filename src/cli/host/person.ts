import { statSync } from "node:fs";

import type { Command } from "commander";

import type { Context } from "../../base/context.ts";
import { programName } from "../../base/program-name.ts";
import { personalDataOpener } from "../../booking/personal-data/personal-data.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { secretStore } from "../../config/secrets.ts";
import { databaseFile } from "../../db/open.ts";
import { serverOf } from "../../db/sqlite/server-lock.ts";
import { vacuum } from "../../db/sqlite/vacuum.ts";
import { type Persons, persons } from "../../persons/persons.ts";
import { example } from "../kit/arguments.ts";
import { useDatabase } from "../kit/database.ts";
import { note, table, UsageError } from "../kit/output.ts";
import { commandContext, operatorName } from "../kit/program.ts";
import { serviceParts } from "../kit/services.ts";

interface EraseOptions {
  readonly yes?: true;
  readonly vacuum: boolean;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const person = program
    .command("person")
    .description("export or erase what is stored about a person; the server may keep running");
  person
    .command("export")
    .description("print it as JSON, with passports in full; the access is recorded")
    .argument("<person>", "an e-mail address, or the id of a user")
    .addHelpText("after", example("skyhook person export ada@example.com > ada.json"))
    .action((given: string) => exportPerson(given, env));
  person
    .command("erase")
    .description("delete it, and rewrite what accounting needs; cannot be undone")
    .argument("<person>", "an e-mail address, or the id of a user")
    .option("--yes", "do not ask before")
    .option("--no-vacuum", "SQLite: leave old copies in the database file, for `person vacuum`")
    .addHelpText("after", example("skyhook person erase ada@example.com"))
    .action((given: string, options: EraseOptions) => erase(given, options, env));
  person
    .command("vacuum")
    .description(
      "SQLite: rewrite the database file without old copies of rows; stop the server before",
    )
    .action(() => removeCopies(env));
}

/** `skyhook person export`. */
async function exportPerson(given: string, env: NodeJS.ProcessEnv): Promise<void> {
  const exported = await withPersons(env, (service, ctx) => service.export(ctx, given, true));
  console.log(JSON.stringify(exported, null, 2));
  note(`access recorded for ${operatorName(env)}`);
  if (!exported.isComplete)
    throw new Error("There is more than is shown: more than 100000 rows of a kind");
}

/** `skyhook person erase`. */
async function erase(
  given: string,
  { yes, vacuum: isVacuumed }: Partial<EraseOptions>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (yes === undefined && !process.stdin.isTTY) {
    throw new UsageError(
      `Erasing cannot be undone. Look at \`${programName} person export\`, then add --yes`,
    );
  }
  if (yes === undefined && !confirm(`Erase ${given}? This cannot be undone.`)) return;
  const config = readConfig(env);
  const file = databaseFile(config.databaseUrl);
  const server = file === null ? null : serverOf(file);
  const { erased } = await withPersons(env, (service, ctx) => service.erase(ctx, given));
  const rows = Object.entries(erased).map(([name, count]) => [name, String(count)]);
  console.log(table([["table", "rows"], ...rows]));
  if (file === null) note("PostgreSQL removes the old versions of the rows with its next vacuum");
  else if (server !== null)
    note(`Old copies stay in the files of the database. ${afterStop(server)}`);
  else if (isVacuumed === true) await rewriteFile(file);
  note("Backups from before still contain the person: delete them when they expire.");
}

/** Rewriting the files takes seconds, in which a server could not write. */
function afterStop({ pid }: { readonly pid: number }): string {
  return `A server uses the database (process ${pid}): stop it, and run \`${programName} person vacuum\`.`;
}

/** `skyhook person vacuum`. */
async function removeCopies(env: NodeJS.ProcessEnv): Promise<void> {
  const file = databaseFile(readConfig(env).databaseUrl);
  if (file === null) throw new UsageError("PostgreSQL removes old versions of rows by itself");
  const server = serverOf(file);
  if (server !== null) throw new Error(afterStop(server));
  await rewriteFile(file);
}

async function rewriteFile(file: string): Promise<void> {
  const megabytes = Math.ceil(statSync(file).size / 1e6);
  note(`rewriting the database file (${megabytes} MB); meanwhile, nothing can be written`);
  await vacuum(file);
}

/** Opens the database for `use`, in the name of the operating system's user. */
function withPersons<Result>(
  env: NodeJS.ProcessEnv,
  use: (service: Persons, ctx: Context) => Promise<Result>,
): Promise<Result> {
  const config: Config = readConfig(env);
  // Creates none: a new key decrypts nothing.
  const keys = secretStore(env, config.secretsDir).personalDataKeysThere(config.dataDir);
  return useDatabase(config, (storage) => {
    const service = persons({ ...serviceParts(storage), seal: personalDataOpener(keys) });
    return use(service, commandContext(env));
  });
}
