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
