import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { SQL } from "bun";

import { until } from "./app.ts";
import type { Certificate } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { removeFolder, temporaryFolder } from "./program.ts";
import { notInstalled } from "./skips.ts";

const tools = toolsFolder();
/** PostgreSQL does not run as root. */
export const asOther = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

/** Why tests with their own server are skipped; null when they run. */
export const noOwnPostgres =
  tools === null
    ? "initdb and pg_ctl of PostgreSQL are not installed"
    : asOther.length > 0
      ? notInstalled("runuser")
      : null;

/** The folder of initdb and pg_ctl. Debian has one per version, which is not in PATH. */
function toolsFolder(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted().toReversed() : [];
  const folders = versions.map((version) => join(debian, version, "bin"));
  const onPath = Bun.which("pg_ctl");
  if (onPath !== null) folders.push(join(onPath, ".."));
  return folders.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

/** A server in a new folder, on a free port, that a test may crash. `programs` is the folder of initdb and pg_ctl. */
export async function ownPostgres(programs = tools ?? "") {
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const primary = serverIn(folder, "server", programs);
  const standbys: ReturnType<typeof serverIn>[] = [];
  // Skips fsync only while creating the data folder; commits are synced.
  await primary.run("initdb", "-D", primary.data, "-U", "postgres", "-A", "trust", "--no-sync");
  await primary.start();
  return {
    url: primary.url,
    crash: primary.crash,
    start: primary.start,
    /** Enables TLS with this certificate for new connections. */
    useCertificate: (certificate: Certificate) => useCertificate(primary, certificate),
    /** Adds a synchronous standby, read-only until it is promoted: from now on each commit waits for it. */
    async addStandby() {
      const standby = serverIn(folder, `standby-${standbys.length + 1}`, programs);
      const copied = ["-D", standby.data, "-d", primary.url, "--write-recovery-conf"];
      await primary.run("pg_basebackup", ...copied, "--checkpoint=fast", "--no-sync");
      await standby.start();
      standbys.push(standby);
      await makeSynchronous(primary.url, standbys.length);
      return standby;
    },
    /** Stops the server and its standbys, and removes their data. */
    async end() {
      // They may already be stopped.
      for (const server of [...standbys, primary]) await server.crash().catch(() => {});
      removeFolder(folder);
    },
  };
}

export type OwnPostgres = Awaited<ReturnType<typeof ownPostgres>>;

/** A server with its data in `folder`. */
function serverIn(folder: string, name: string, programs: string) {
  const port = freePort();
  const data = join(folder, name);
  const run = (tool: string, ...args: string[]) => runIn(folder, join(programs, tool), ...args);
  const ctl = (...args: string[]) =>
    run("pg_ctl", "-D", data, "-w", "-t", "30", "-l", join(folder, `${name}.log`), ...args);
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    data,
    run,
    start: () => ctl("-o", options, "start"),
    /** Stops it immediately, without a checkpoint: commits are only in its write-ahead log. */
    crash: () => ctl("-m", "immediate", "stop"),
    promote: () => ctl("promote"),
  };
}

async function runIn(folder: string, program: string, ...args: string[]): Promise<void> {
  // No pipes: the server would inherit them and keep them open.
  const child = Bun.spawn([...asOther, program, ...args], {
    cwd: folder,
    stdout: "ignore",
    stderr: "ignore",
  });
  const code = await child.exited;
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} exited with ${code}`);
}

async function useCertificate(
  { url, data }: ReturnType<typeof serverIn>,
  { certificate, key }: Certificate,
): Promise<void> {
  // The server requires a key file that only its own user can read.
  chmodSync(key, 0o644);
  await runIn("/", "install", "-m", "600", certificate, join(data, "server.crt"));
  await runIn("/", "install", "-m", "600", key, join(data, "server.key"));
  const loadedAt = async () => {
    // A new connection shows whether the configuration was reloaded.
    await using sql = new SQL(url, { max: 1 });
    const rows: { at: string }[] = await sql.unsafe("select pg_conf_load_time()::text as at");
    return rows[0]?.at;
  };
  const before = await loadedAt();
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe("alter system set ssl = on");
  await sql.unsafe("select pg_reload_conf()");
  await until(async () => (await loadedAt()) !== before, 30_000);
}

/** Makes commits wait for any standby, and waits until all standbys are connected. */
async function makeSynchronous(primary: string, standbys: number): Promise<void> {
  await using sql = new SQL(primary, { max: 1 });
  await sql.unsafe("alter system set synchronous_standby_names = 'ANY 1 (*)'");
  await sql.unsafe("select pg_reload_conf()");
  await until(async () => {
    const text = "select from pg_stat_replication where sync_state = 'quorum'";
    const following: unknown[] = await sql.unsafe(text);
    return following.length === standbys;
  }, 30_000);
}
