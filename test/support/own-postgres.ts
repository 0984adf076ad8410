import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { SQL } from "bun";

import { until } from "./app.ts";
import type { Certificate } from "./certificates.ts";
import { freeAddress } from "./load-balancer.ts";
import { removeFolder, temporaryFolder } from "./program.ts";

/** A PostgreSQL server that a test may crash. */
export interface OwnPostgres {
  readonly url: string;
  /** Ends it in the midst of what it does; what was committed is in its log only. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Has new connections be offered TLS, with this certificate. */
  useCertificate(certificate: Certificate): Promise<void>;
  /** A copy that follows it, in another process. From now on each commit waits for it. */
  addStandby(): Promise<Standby>;
  /** Ends it and its standbys, and removes all they had. */
  end(): Promise<void>;
}

/** It answers, and takes no writes until it is promoted. */
export interface Standby {
  readonly url: string;
  promote(): Promise<void>;
  crash(): Promise<void>;
  start(): Promise<void>;
}

const tools = toolsFolder();
/** The server refuses to run as root. */
export const asOther = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

/** Why there can be no server of our own; null when there can. */
export const noOwnPostgres =
  tools === null
    ? "PostgreSQL's initdb and pg_ctl are not installed"
    : asOther.length > 0 && Bun.which("runuser") === null
      ? "PostgreSQL does not run as root, and runuser is not installed"
      : null;

/** Where initdb and pg_ctl are; Debian has a folder for each version, which is on nobody's path. */
function toolsFolder(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted().toReversed() : [];
  const folders = versions.map((version) => join(debian, version, "bin"));
  const onPath = Bun.which("pg_ctl");
  if (onPath !== null) folders.push(join(onPath, ".."));
  return folders.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

/** Makes a server in a folder of its own, on a free port, and starts it. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const primary = serverIn(folder, "server");
  const standbys: ReturnType<typeof serverIn>[] = [];
  // Only the making is not synced: commits are.
  await primary.run("initdb", "-D", primary.data, "-U", "postgres", "-A", "trust", "--no-sync");
  await primary.start();
  return {
    url: primary.url,
    crash: primary.crash,
    start: primary.start,
    useCertificate: (certificate) => useCertificate(primary, certificate),
    async addStandby() {
      const standby = serverIn(folder, `standby-${standbys.length + 1}`);
      const copied = ["-D", standby.data, "-d", primary.url, "--write-recovery-conf"];
      await primary.run("pg_basebackup", ...copied, "--checkpoint=fast", "--no-sync");
      await standby.start();
      standbys.push(standby);
      await makeSynchronous(primary.url, standbys.length);
      return standby;
    },
    async end() {
      // They may be down already.
      for (const server of [...standbys, primary]) await server.crash().catch(() => {});
      removeFolder(folder);
    },
  };
}

/** One server: its data in `folder`, its port its own. */
function serverIn(folder: string, name: string) {
  const [, port = ""] = freeAddress().split(":");
  const data = join(folder, name);
  const run = (tool: string, ...args: string[]) => runIn(folder, join(tools ?? "", tool), ...args);
  const ctl = (...args: string[]) =>
    run("pg_ctl", "-D", data, "-w", "-t", "30", "-l", join(folder, `${name}.log`), ...args);
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    data,
    run,
    start: () => ctl("-o", options, "start"),
    crash: () => ctl("-m", "immediate", "stop"),
    promote: () => ctl("promote"),
  };
}

async function runIn(folder: string, program: string, ...args: string[]): Promise<void> {
  // No pipes: what the server inherits of ours would keep us waiting for their end.
  const child = Bun.spawn([...asOther, program, ...args], {
    cwd: folder,
    stdout: "ignore",
    stderr: "ignore",
  });
  const code = await child.exited;
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}

async function useCertificate(
  { url, data }: ReturnType<typeof serverIn>,
  { certificate, key }: Certificate,
): Promise<void> {
  // Read by the server's user, who then has a copy that nobody else may read.
  chmodSync(key, 0o644);
  await runIn("/", "install", "-m", "600", certificate, join(data, "server.crt"));
  await runIn("/", "install", "-m", "600", key, join(data, "server.key"));
  const loadedAt = async () => {
    // A new connection is offered what is in force now.
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

/** Has commits wait for any standby, and waits until as many as there are follow. */
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
