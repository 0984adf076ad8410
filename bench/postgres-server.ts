import { join } from "node:path";

import { SQL } from "bun";

/** The server for temporary schemas. */
const serverUrl = process.env["TEST_POSTGRES_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

/** Calls `act` with a temporary schema. */
export async function inSchema<Result>(
  act: (url: string, sql: SQL) => Promise<Result>,
): Promise<Result> {
  const schema = `skyhook_bench_${process.pid}`;
  const url = new URL(serverUrl);
  url.searchParams.set("search_path", schema);
  await using sql = new SQL(url.href, { max: 1, connection: { client_min_messages: "warning" } });
  await sql.unsafe(`drop schema if exists ${schema} cascade`);
  await sql.unsafe(`create schema ${schema}`);
  try {
    return await act(url.href, sql);
  } finally {
    await sql.unsafe(`drop schema ${schema} cascade`);
  }
}

export async function serverVersion(): Promise<string> {
  await using sql = new SQL(serverUrl, { max: 1 });
  const [row]: { server_version: string }[] = await sql.unsafe("show server_version");
  return row?.server_version ?? "unknown";
}

interface PgbenchPlan {
  /** A file in servers/. */
  readonly script: string;
  readonly clients: number;
  readonly seconds: number;
  readonly variables: Readonly<Record<string, number>>;
}

/** Transactions per second of pgbench with prepared statements. */
export async function pgbench(
  schemaUrl: string,
  { script, clients, seconds, variables }: PgbenchPlan,
): Promise<number> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(schemaUrl);
  const child = Bun.spawn(
    [
      "pgbench",
      "--no-vacuum",
      "--protocol=prepared",
      ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
      `--client=${clients}`,
      "--jobs=1",
      `--time=${seconds}`,
      `--file=${join(import.meta.dir, "servers", script)}`,
      `--host=${hostname}`,
      `--port=${port || 5432}`,
      `--username=${username || "postgres"}`,
      pathname.slice(1),
    ],
    {
      env: {
        PATH: process.env["PATH"],
        PGPASSWORD: password,
        PGOPTIONS: `-c search_path=${searchParams.get("search_path")}`,
      },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const perSecond = Number(/tps = ([\d.]+)/.exec(out)?.[1]);
  if ((await child.exited) !== 0 || Number.isNaN(perSecond)) {
    throw new Error(`pgbench ended with ${child.signalCode ?? child.exitCode}: ${err}${out}`);
  }
  return perSecond;
}
