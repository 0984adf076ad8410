import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { at } from "../../../src/base/payload.ts";
import { version } from "../../../src/base/version.ts";
import { databaseFile } from "../../../src/db/open.ts";
import { alteredCopy } from "../../support/altered-copy.ts";
import { json, jsonWith, type TestApp, until } from "../../support/app.ts";
import { everything } from "../../support/cli.ts";
import { noManyConnections } from "../../support/databases.ts";
import { mountedDisk, whyNoMount } from "../../support/disk.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { jwtSecret, keepDelivering } from "../../support/load.ts";
import { runSkyhook, spawnSkyhook, type Surroundings } from "../../support/program.ts";
import {
  decompressed,
  loadDump,
  type Release,
  releaseEnv,
  releaseOf,
  releases,
  startOnRelease,
  stateOf,
} from "../../support/releases.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";

const taken = resources();

type Dialect = "sqlite" | "postgres";
const databases: readonly Dialect[] = skips(noManyConnections)
  ? ["sqlite"]
  : ["sqlite", "postgres"];
const cases = releases().flatMap((version) =>
  databases.map((database) => [version, database] as const),
);

/** The data of a release, in a database of its own. Returns its URL. */
async function restored(version: string, database: Dialect): Promise<string> {
  if (database === "sqlite") {
    const file = taken.newFile();
    writeFileSync(file, await decompressed(version, "skyhook.db.zst"));
    return `sqlite:${file}`;
  }
  const { url } = await taken.database();
  await loadDump(url, Buffer.from(await decompressed(version, "postgres.sql.zst")).toString());
  return url;
}

/** Runs a command on the data, of the present program or of a changed copy of it. */
function command(
  url: string,
  release: Release,
  args: readonly string[],
  how: Pick<Surroundings, "through" | "main"> = {},
) {
  const cwd = taken.newFolder();
  const env = {
    ...everything,
    ...releaseEnv(url, release.keys),
    DATA_DIR: cwd,
    JWT_SECRET: jwtSecret,
  };
  return runSkyhook(args, { cwd, env, ...how });
}

const bodyOf = async (app: TestApp, path: string, init?: RequestInit) =>
  json(await app.fetch(path, init));

describe.each(cases)("the data of %s on %s", (version, database) => {
  test("is read as it was, and used further", async () => {
    const release = await releaseOf(version);
    const url = await restored(version, database);
    const app = await startOnRelease(url, release);
    const expected: unknown = JSON.parse(
      Buffer.from(await decompressed(version, "state.json.zst")).toString(),
    );
    expect(await stateOf(app)).toMatchObject(Object(expected));

    const { sessionCookie, clientId, clientSecret, revokedToken, apiKey } = release.keys;
    for (const [token, status] of [
      [revokedToken, 401],
      [apiKey, 200],
    ] as const) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await app.fetch("/v1/api/bookings", { headers })).status).toBe(status);
    }
    const session = await bodyOf(app, "/v1/auth/session", { headers: { cookie: sessionCookie } });
    expect(session).toMatchObject({ roles: ["admin"] });
    const form = {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    };
    const token = await app.fetch("/v1/auth/token", {
      method: "POST",
      body: new URLSearchParams(form),
    });
    expect(await jsonWith(token, 200)).toMatchObject({ token_type: "Bearer" });

    expect((await app.deliverSample("code_host", "workflow_run.completed")).status).toBe(200);
    const { id } = await addFlight(app);
    const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(id)));
    expect(await jsonWith(booked, 201)).toMatchObject({ status: "confirmed" });
    await app.stop();

    const exported = await command(url, release, ["person", "export", "ada@example.com"]);
    expect(exported.out).toContain("X0000001");
    const doctor = await command(url, release, ["doctor", "--json"]);
    const findings = doctor.out
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    const about = (level: string) =>
      findings.filter((one) => at(one, "level") === level).map((one) => at(one, "about"));
    expect(about("bad")).toEqual([]);
    expect(about("good")).toContain("database");
  }, 60_000);
});

/** What a later version changes. */
const later =
  "alter table bookings add column meal text; create index events_trial on events (title);";
const failing = "alter table bookings add column id text;";
/** Runs for minutes. */
const slow = `create table numbers as
  with recursive n (i) as (select 1 union all select i + 1 from n limit 1000000000) select max(i) from n;`;

/** A program with one more migration. Returns its `main.ts`. */
function nextVersion(sql: string): string {
  const next = JSON.stringify({ name: "9.9.0 meals", sql });
  const { folder, ...copy } = alteredCopy([
    ["src/schema/schema.ts", "export const schema: Schema = {", "export const schema = withNext({"],
    [
      "src/schema/schema.ts",
      "  },\n};\n",
      `  },
});

function withNext({ tables, migrations: { sqlite, postgres } }: Schema): Schema {
  return { tables, migrations: { sqlite: [...sqlite, ${next}], postgres: [...postgres, ${next}] } };
}
`,
    ],
  ]);
  taken.ends.push(() => copy[Symbol.dispose]());
  return join(folder, "src/main.ts");
}

const newest = releases().at(-1) ?? "";

/** A database of this version, with commands on it whose temporary files are in a folder of their own. */
async function upgrading(database: Dialect) {
  const release = await releaseOf(newest);
  const url = await restored(newest, database);
  const temporary = taken.newFolder();
  const through = ["env", `TMPDIR=${temporary}`];
  return {
    url,
    env: releaseEnv(url, release.keys),
    run: (args: readonly string[], main?: string) =>
      command(url, release, args, { through, ...(main !== undefined && { main }) }),
    start: (args: readonly string[], main: string) =>
      spawnSkyhook(args, { cwd: taken.newFolder(), env: { DATABASE_URL: url }, through, main }),
    temporary: () => readdirSync(temporary, { recursive: true, encoding: "utf8" }),
  };
}

describe.each(databases)("an upgrade on %s", (database) => {
  test("is tried beside the old server, then done, and the old program says what to start", async () => {
    const { env, run, temporary } = await upgrading(database);
    const server = await taken.start(taken.newFolder(), env);
    const load = keepDelivering(server, 2);
    const main = nextVersion(later);

    const checked = await run(["upgrade", "--check"], main);
    expect([checked.err, checked.code]).toEqual(["", 0]);
    expect(checked.out).toMatch(/^9\.9\.0 meals: \d+ ms$/m);
    expect(checked.out).toContain(database === "sqlite" ? "stayed intact" : later);
    const failed = await run(["upgrade", "--check"], nextVersion(failing));
    const error = /^skyhook: 9\.9\.0 meals fails \(.*\bid\b.*\): keep the older version\n$/;
    expect(failed).toMatchObject({ out: "", err: expect.stringMatching(error), code: 1 });
    expect(temporary()).toEqual([]);
    await load.end();
    expect([...load.statuses]).toEqual([200]);
    const nothing = { out: "Nothing to migrate: start this version\n", err: "", code: 0 };
    expect(await run(["upgrade", "--check"])).toEqual(nothing);
    await server.stop();

    expect((await run(["client", "list"], main)).code).toBe(0);
    expect(await run(["upgrade", "--check"], main)).toEqual(nothing);
    const refused = `The database is newer than this program (${version}): skyhook 9.9.0 migrated it. Start that version or a later one, or restore the backup from before that upgrade`;
    for (const args of [["serve"], ["client", "list"], ["upgrade", "--check"]]) {
      expect(await run(args)).toEqual({ out: "", err: `skyhook: ${refused}\n`, code: 1 });
    }
    expect((await run(["doctor"])).out).toContain(refused);
  }, 120_000);
});

test.each(["SIGINT", "SIGKILL"] as const)(
  "the copy on which an upgrade is tried is gone after %s, in the middle of a statement",
  async (signal) => {
    const { start, temporary } = await upgrading("sqlite");
    const child = start(["upgrade", "--check"], nextVersion(slow));
    // The log of the copy is there once it is migrated.
    await until(() => temporary().some((name) => name.endsWith("-wal")));
    child.kill(signal);
    await child.exited;
    expect(child.signalCode).toBe(signal);
    await until(() => temporary().length === 0);
  },
  60_000,
);

test.skipIf(skips(whyNoMount))("an upgrade is not tried where the copy has no space", async () => {
  const { url } = await upgrading("sqlite");
  const { folder } = mountedDisk(taken);
  using file = new Database(databaseFile(url) ?? "");
  file.run("create table fat as select randomblob(10_000_000)");
  const { err, code } = await runSkyhook(["upgrade", "--check"], {
    cwd: taken.newFolder(),
    env: { DATABASE_URL: url },
    through: ["env", `TMPDIR=${folder}`],
    main: nextVersion(later),
  });
  expect(err).toMatch(/^skyhook: A copy needs 2\d MB in \S+: set TMPDIR elsewhere\n$/);
  expect(code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});
