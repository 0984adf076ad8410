import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { SQL } from "bun";

import { until } from "./app.ts";
import { freePort } from "./free-port.ts";
import { asOther } from "./own-postgres.ts";
import { removeFolder, temporaryFolder } from "./program.ts";

/** Debian installs it in a folder that is often not in PATH. */
const pgbouncer = Bun.which("pgbouncer", { PATH: `${process.env["PATH"]}:/usr/sbin` });

/** Why tests with a pooler are skipped; null when they run. */
export const noPooler = pgbouncer === null ? "pgbouncer is not installed" : null;

/** Starts PgBouncer in front of the server at `url`, with additional configuration lines. */
export async function pooler(url: string, ...lines: string[]) {
  const folder = temporaryFolder();
  // Like the server, it does not run as root.
  chmodSync(folder, 0o755);
  const server = new URL(url);
  const port = freePort();
  const config = join(folder, "pgbouncer.ini");
  writeFileSync(
    config,
    [
      "[databases]",
      `* = host=${server.hostname} port=${server.port} user=${server.username}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      ...lines,
    ].join("\n"),
  );
  const child = Bun.spawn([...asOther, pgbouncer ?? "pgbouncer", "-q", config], {
    cwd: "/",
    stdout: "ignore",
    stderr: "ignore",
  });
  const through = new URL(url);
  through.port = String(port);
  const answers = async () => {
    await using sql = new SQL(through.href, { max: 1 });
    return sql.unsafe("select 1").then(
      () => true,
      () => false,
    );
  };
  await until(answers, 10_000);
  return {
    url: through.href,
    async stop() {
      child.kill();
      await child.exited;
      removeFolder(folder);
    },
  };
}
