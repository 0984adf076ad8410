import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { freeAddress } from "./load-balancer.ts";
import { removeFolder, temporaryFolder } from "./program.ts";

/** A PostgreSQL server that a test may crash. */
export interface OwnPostgres {
  readonly url: string;
  /** Ends it in the midst of what it does; what was committed is in its log only. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it, and removes all it had. */
  end(): Promise<void>;
}

const tools = toolsFolder();
/** The server refuses to run as root. */
const asOther = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

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
  const [, port = ""] = freeAddress().split(":");
  const data = join(folder, "server");
  const run = async (tool: string, ...args: string[]) => {
    // No pipes: what the server inherits of ours would keep us waiting for their end.
    const child = Bun.spawn([...asOther, join(tools ?? "", tool), ...args], {
      cwd: folder,
      stdout: "ignore",
      stderr: "ignore",
    });
    const code = await child.exited;
    if (code !== 0) throw new Error(`${tool} ${args.join(" ")} ended with ${code}`);
  };
  const ctl = (...args: string[]) =>
    run("pg_ctl", "-D", data, "-w", "-t", "30", "-l", join(folder, "log"), ...args);
  const crash = () => ctl("-m", "immediate", "stop");
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  const start = () => ctl("-o", options, "start");
  // Only the making is not synced: commits are.
  await run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync");
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    crash,
    start,
    async end() {
      // It may be down already.
      await crash().catch(() => {});
      removeFolder(folder);
    },
  };
}
