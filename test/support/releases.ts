import { readdirSync } from "node:fs";
import { join } from "node:path";

import { schema } from "../../src/schema/schema.ts";

import { json, startApp, type TestApp } from "./app.ts";
import { manualClock } from "./clock.ts";
import { testPoolSize } from "./databases.ts";
import { itemsOf } from "./operator.ts";

const folder = join(import.meta.dir, "../fixtures");

/** The data of a released version, made by `bun scripts/fixture.ts VERSION`. */
export const releaseFile = (version: string, name: string): string => join(folder, version, name);

/** All versions whose data is kept. */
export const releases = (): readonly string[] => readdirSync(folder).toSorted(Bun.semver.order);

/** What opens the data: keys, and what signs in. They are of no other use. */
export interface ReleaseKeys {
  readonly personalDataKey: string;
  readonly sessionCookie: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly revokedToken: string;
  readonly apiKey: string;
}

export interface Release {
  readonly keys: ReleaseKeys;
  /** A time after everything in the data happened. */
  readonly madeAt: string;
  /** SHA-256 of each migration of each database. */
  readonly migrations: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export async function releaseOf(version: string): Promise<Release> {
  // Guarantee: the script writes it.
  return (await Bun.file(releaseFile(version, "release.json")).json()) as Release;
}

/** SHA-256 of each migration of this version. A file in another line-ending is another migration. */
export function hashesOfMigrations(): Release["migrations"] {
  return Object.fromEntries(
    Object.entries(schema.migrations).map(([database, migrations]) => [
      database,
      Object.fromEntries(
        migrations.map(({ name, sql }) => [
          name,
          new Bun.CryptoHasher("sha256").update(sql).digest("hex"),
        ]),
      ),
    ]),
  );
}

export async function decompressed(version: string, name: string): Promise<Uint8Array> {
  return Bun.zstdDecompress(await Bun.file(releaseFile(version, name)).bytes());
}

/** A schema of PostgreSQL that does not exist: the dump has it in place of the one to load it into. */
export const dumpedSchema = "skyhook_release";

/** Loads a dump into the empty database at `url`. */
export async function loadDump(url: string, dump: string): Promise<void> {
  const target = new URL(url).searchParams.get("search_path") ?? "public";
  await using sql = new Bun.SQL(url, { max: 1 });
  await sql.unsafe(dump.replaceAll(dumpedSchema, target)).simple();
}

/** The settings of a program on the data of a release. */
export const releaseEnv = (url: string, { personalDataKey }: ReleaseKeys) => ({
  DATABASE_URL: url,
  DATABASE_POOL_SIZE: String(testPoolSize),
  PERSONAL_DATA_KEY: personalDataKey,
  DESTINATIONS_ALLOW_PRIVATE: "true",
});

/** The service on the data of a release, at a time soon after that was made. */
export function startOnRelease(url: string, { keys, madeAt }: Release): Promise<TestApp> {
  return startApp(releaseEnv(url, keys), manualClock(Date.parse(madeAt)));
}

/** Lists, whose items are read one by one too where there is an address. */
const lists: readonly (readonly [path: string, hasItems: boolean])[] = [
  // First, because what is read afterwards is audited.
  ["/v1/audit", false],
  ["/v1/events", true],
  ["/v1/rejections", true],
  ["/v1/destinations", true],
  ["/v1/replays", true],
  ["/v1/users", true],
  ["/v1/api/bookings", true],
  ["/v1/notifications", false],
  ["/v1/sessions", false],
  ["/v1/keys", true],
];

/** Searches, by what finds something in the data. */
const searches = ["q=deploy", "provider=code_host", "type=booking.*", "q=confirmed"];

/** Everything that the REST API shows admins, by path. */
export async function stateOf(app: TestApp): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  const read = async (path: string) => {
    const response = await app.as("admin", path);
    if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`);
    state[path] = await json(response);
    const { data = [] }: { data?: unknown } = Object(state[path]);
    return Array.isArray(data) ? itemsOf(data) : [];
  };
  for (const [path, hasItems] of lists) {
    for (const item of await read(`${path}?limit=100`)) {
      const id = String(item["id"] ?? item["bookingId"]);
      if (hasItems) await read(`${path}/${id}`);
      if (path === "/v1/destinations") await read(`${path}/${id}/deliveries?limit=100`);
      if (path === "/v1/replays") await read(`${path}/${id}/failures`);
    }
  }
  for (const search of searches) {
    const found = await read(`/v1/events?${search}`);
    state[`/v1/events?${search}`] = found.map(({ id }) => id);
  }
  const issues = await read("/v1/issues");
  state["/v1/issues"] = issues.map(({ id, mutedUntil }) => ({ id, mutedUntil }));
  for (const id of [1, 2, 3]) await read(`/v1/api/flights/${id}`);
  return state;
}
