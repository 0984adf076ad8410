import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { makeId } from "../../../../src/base/ids.ts";
import { insertPassenger } from "../../../../src/booking/model/bookings.sql.ts";
import { personalDataSeal } from "../../../../src/booking/personal-data/personal-data.ts";
import { sealedKeys } from "../../../../src/booking/personal-data/sealed-keys.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { book, bookingOn, flightsIn } from "../../../support/booked.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { authorization, databaseIn } from "../../../support/load.ts";
import { type RunningServer, runSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";
import { skips } from "../../../support/skips.ts";

const taken = resources();
const newKey = (byte: number) => Buffer.alloc(32, byte).toString("base64");

/** Reads a booking as an admin. */
async function read({ url }: RunningServer, id: string): Promise<Response> {
  return fetch(`${url}/v1/api/bookings/${id}`, {
    headers: { authorization: await authorization("admin") },
  });
}

/** The lines of `doctor` about a subject, without alignment. */
async function findings(about: string, server: { cwd: string; env?: Record<string, string> }) {
  const { out } = await runSkyhook(["doctor"], server);
  const line = new RegExp(`^([✓!✗]) +${about} {2,}(.*)$`, "gm");
  return [...out.matchAll(line)].map(([, mark, detail]) => `${mark} ${detail}`);
}

describe("PERSONAL_DATA_KEY", () => {
  test("may be rotated between a booking and its retry, which gets the original response", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder, { PERSONAL_DATA_KEY: newKey(1) });
    await runSkyhook(["import", flightsIn(folder)], first);
    const booked: unknown = await (await book(first, { "idempotency-key": "once" })).json();
    await first.stop();
    const rotated = await taken.start(folder, {
      PERSONAL_DATA_KEY: newKey(3),
      PERSONAL_DATA_KEY_PREVIOUS: `${newKey(2)},${newKey(1)}`,
    });
    const again = await book(rotated, { "idempotency-key": "once" });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toEqual(booked);
  });

  test("is read from the data folder after a rotation, and named everywhere when it is missing", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder);
    const id = await bookingOn(first);
    await first.stop();
    const key = join(folder, "data/personal_data_key");
    const previous = `${key}_previous`;
    renameSync(key, previous);
    writeFileSync(key, newKey(9), { mode: 0o600 });

    const rotated = await taken.start(folder);
    expect((await read(rotated, id)).status).toBe(200);
    const backup = await runSkyhook(["backup", join(folder, "copy.db")], rotated);
    expect(backup.out).toContain(`${previous}  decrypts birth dates and passports`);
    expect(await findings("personal data key", rotated)).toEqual([
      expect.stringMatching(
        /^✓ from \S+_key and \S+_key_previous: key [0-9a-f]{8}, key [0-9a-f]{8}$/,
      ),
    ]);
    expect(await findings("personal data", rotated)).toEqual([expect.stringMatching(/^✓/)]);
    await rotated.stop();
    expect(rotated.log()).not.toContain("encrypted with key");

    rmSync(previous);
    const lost = await taken.start(folder);
    const advice =
      "encrypted with key [0-9a-f]{8}, which is missing: restore it as PERSONAL_DATA_KEY_PREVIOUS \\(or as the file personal_data_key_previous in SECRETS_DIR or DATA_DIR\\)";
    await until(
      () => new RegExp(`"level":50,.*"bookings such as ${id} are ${advice}"`).test(lost.log()),
      20_000,
    );
    const answer = await read(lost, id);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
    expect(await answer.text()).not.toContain("encrypted with key");
    await until(() => new RegExp(`booking ${id} is ${advice}`).test(lost.log()));
    const readable = await bookingOn(lost);
    const asked = await fetch(`${lost.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: await authorization("admin") },
      body: JSON.stringify({
        query: "{ bookings { nodes { bookingId passengers { passportNumber } } } }",
      }),
    });
    const found: unknown = await asked.json();
    expect(found).toMatchObject({
      data: {
        bookings: {
          nodes: [
            { bookingId: readable, passengers: [{}] },
            { bookingId: id, passengers: null },
          ],
        },
      },
      errors: [
        { path: ["bookings", "nodes", 1, "passengers"], extensions: { code: "unavailable" } },
      ],
    });
    const cancelled = await fetch(`${lost.url}/v1/api/bookings/${id}`, {
      method: "DELETE",
      headers: { authorization: await authorization("admin") },
    });
    expect(cancelled.status).toBe(200);
    const shown = await runSkyhook(["booking", "reveal", id, "--reason", "visa check"], lost);
    expect(shown).toMatchObject({ code: 1, out: "" });
    expect(shown.err).toMatch(new RegExp(`^skyhook: booking ${id} is ${advice}\n$`));
    using database = new Database(databaseIn(folder), { readonly: true });
    expect(database.query("select 1 from disclosures").all()).toEqual([]);
    expect(await findings("personal data", lost)).toEqual([
      expect.stringMatching(new RegExp(`^✗ bookings such as ${id} are ${advice}$`)),
    ]);
  });

  test("is not made by a restore, which names the key to restore", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder);
    await bookingOn(first);
    const file = join(folder, "copy.db");
    await runSkyhook(["backup", file], first);
    await first.stop();
    const empty = taken.newFolder();
    const data = join(empty, "data");
    const place = { cwd: empty, env: { DATA_DIR: data } };
    const restored = await runSkyhook(["restore", file], place);
    expect(restored.out).toContain("and checked; do not start skyhook yet\n");
    expect(restored.err).toMatch(/restore the personal_data_key .* \(key [0-9a-f]{8}\)\n$/);
    // `doctor` and `booking reveal` make no key either.
    expect(await findings("personal data", place)).toEqual([
      expect.stringMatching(/^✗ .* restore it as PERSONAL_DATA_KEY \(or as the file/),
    ]);
    await runSkyhook(["booking", "reveal", "bk_0", "--reason", "x"], place);
    expect(readdirSync(data)).toEqual(["skyhook.db"]);
    // With only a previous key, a restore makes no current key.
    const env = { ...place.env, PERSONAL_DATA_KEY_PREVIOUS: newKey(1) };
    await runSkyhook(["restore", file, "--force"], { cwd: empty, env });
    expect(existsSync(join(data, "personal_data_key"))).toBe(false);
    const key = readFileSync(join(folder, "data/personal_data_key"), "utf8");
    writeFileSync(join(data, "personal_data_key"), "no key");
    const unread = await runSkyhook(["restore", file, "--force"], place);
    expect(unread).toMatchObject({ code: 2, out: "" });
    expect(unread.err).toContain("data/personal_data_key must be the base64 of 32 bytes");
    writeFileSync(join(data, "personal_data_key"), key);
    const good = await runSkyhook(["restore", file, "--force"], place);
    expect(good).toMatchObject({ code: 0, err: "" });
    expect(good.out).toContain("start skyhook now");
  });

  test("is found to be missing from a small sample of many bookings", async () => {
    const storage = await openStorage(schema, "sqlite::memory:");
    const keys = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
    const [old = Buffer.alloc(0), middle = old, current = old] = keys;
    const data = { dateOfBirth: "1990-04-12", passportNumber: "X1234567" };
    let minutes = 0;
    // The oldest key was in use for less than a sixteenth of the time.
    for (const [key, bookings] of [
      [old, 150],
      [middle, 1_450],
      [current, 1_400],
    ] as const) {
      const seal = personalDataSeal([key]);
      const steps = Array.from({ length: bookings }, () => {
        minutes += 1;
        const place = { bookingId: makeId("bk", minutes * 60_000), position: 1 };
        const names = {
          firstName: "Ada",
          lastName: "Lovelace",
          lastNameFolded: null,
          cancelledAt: null,
          corrections: 0,
          email: "ada@example.com",
        };
        return write(insertPassenger, { ...place, ...names, sealed: seal.seal(place, data) });
      });
      await storage.atomically(...steps);
    }
    let looked = 0;
    const counting: Storage = {
      ...storage,
      all(statement, values) {
        looked += 1;
        return storage.all(statement, values);
      },
    };
    const lostOf = async (here: readonly Uint8Array[]) =>
      (await sealedKeys(counting, here)).lost.length;
    expect(await lostOf(keys)).toBe(0);
    expect(looked).toBeLessThan(20);
    expect(await lostOf([current, old])).toBe(1);
    expect(await lostOf([current])).toBe(2);
    expect(await lostOf([])).toBe(3);
    await storage.close();
  });

  test.each([
    [
      "short",
      /^PERSONAL_DATA_KEY must be the base64 of 32 bytes: create one with openssl rand -base64 32/,
    ],
    ["", /^PERSONAL_DATA_KEY is empty: set it, or remove it/],
  ])("%j fails in doctor and prevents the start", async (PERSONAL_DATA_KEY, says) => {
    const place = { cwd: taken.newFolder(), env: { PERSONAL_DATA_KEY, PORT: "0" } };
    const doctor = await runSkyhook(["doctor"], place);
    expect(doctor.out).toMatch(new RegExp(`^✗ .*${says.source.slice(1)}`, "m"));
    expect(doctor.code).toBe(1);
    const serve = await runSkyhook(["serve"], place);
    expect(serve.code).toBe(2);
    expect(serve.err.replace("skyhook: ", "")).toMatch(says);
  });
});

test.skipIf(skips(noManyConnections))(
  "keys that an instance on PostgreSQL generated cause warnings from serve and doctor",
  async () => {
    const database = await taken.database();
    const folder = taken.newFolder();
    const env = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: "2", JWT_SECRET: "" };
    const alone = await taken.start(folder, env);
    await alone.printed("PERSONAL_DATA_KEY is not set: passports are encrypted with");
    await alone.printed("JWT_SECRET is not set: access tokens are signed with");
    expect(await findings("personal data key", alone)).toEqual([
      expect.stringContaining("! PERSONAL_DATA_KEY is not set"),
    ]);
    expect(await findings("token key", alone)).toEqual([
      expect.stringContaining("! JWT_SECRET is not set"),
    ]);
    const id = await bookingOn(alone);
    await alone.stop();
    mkdirSync(join(folder, "secrets"));
    writeFileSync(join(folder, "secrets/personal_data_key"), newKey(5));
    const given = await taken.start(folder, { ...env, JWT_SECRET: "x".repeat(32) });
    expect(given.log()).not.toMatch(/(?:PERSONAL_DATA_KEY|JWT_SECRET) is not set/);
    await until(
      () => given.log().includes(`bookings such as ${id} are encrypted with key`),
      20_000,
    );
    await given.stop();
  },
);

describe("webhook secrets", () => {
  const old = "the old secret of the code host";
  const other = "the new secret of the code host";
  const current = "code_host_webhook_secret";

  function placeWith(files: Record<string, string>, env: Record<string, string> = {}) {
    const cwd = taken.newFolder();
    mkdirSync(join(cwd, "secrets"));
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(cwd, "secrets", name), text, { mode: 0o600 });
    }
    return { cwd, env: { WEBHOOK_PROVIDERS: "code_host", ...env } };
  }

  test("in files that the environment overrides cause warnings, after SIGHUP too", async () => {
    const env = { CODE_HOST_WEBHOOK_SECRET: old };
    const place = placeWith({}, env);
    const server = await taken.start(place.cwd, place.env);
    writeFileSync(join(place.cwd, "secrets", current), other);
    writeFileSync(join(place.cwd, "secrets", `${current}_previous`), old);
    process.kill(server.pid, "SIGHUP");
    const unread = `secrets/${current} is not read, because CODE_HOST_WEBHOOK_SECRET is set in the environment`;
    await until(() => server.log().includes(unread), 20_000);
    const said = await findings("code_host", server);
    expect(said).toContainEqual(expect.stringContaining(`! ${unread}`));
    expect(said).toContainEqual(
      expect.stringContaining(
        `✗ secrets/${current}_previous is the same as CODE_HOST_WEBHOOK_SECRET`,
      ),
    );
    expect(said.join()).not.toMatch(/old secret|new secret of/);
  });

  test("of white space prevent the start, and short or published ones cause a warning [API8-11]", async () => {
    const blank = placeWith({}, { CODE_HOST_WEBHOOK_SECRET: " ", PORT: "0" });
    const refused = await runSkyhook(["serve"], blank);
    expect([refused.code, refused.err]).toEqual([
      2,
      "skyhook: CODE_HOST_WEBHOOK_SECRET is empty: set it, or remove it\n",
    ]);
    const published = "It's a Secret to Everybody";
    const short = placeWith(
      {},
      {
        WEBHOOK_PROVIDERS: "code_host,shared_inbox",
        CODE_HOST_WEBHOOK_SECRET: "ab",
        SHARED_INBOX_WEBHOOK_SECRET: published,
      },
    );
    const server = await taken.start(short.cwd, short.env);
    await server.printed("the current secret of code_host has fewer than 16 characters");
    await server.printed("the current secret of shared_inbox is an example");
    expect(server.log()).not.toContain(published);
  });

  test("in quotes cause a warning", async () => {
    const quoted = placeWith({ [current]: `"${old}"\n` });
    expect(await findings("code_host", quoted)).toEqual([
      `! secrets/${current} starts and ends with a quote, which is part of the secret: remove both`,
    ]);
  });

  test("that cannot be read prevent the start and are named", async () => {
    const place = placeWith({});
    // Nobody can read a folder as a file, not even root.
    mkdirSync(join(place.cwd, "secrets", current));
    const env = { ...place.env, PORT: "0" };
    const refused = await runSkyhook(["serve"], { cwd: place.cwd, env });
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(
      new RegExp(`^skyhook: The secret file secrets/${current} cannot be read \\(EISDIR`),
    );
    expect(await findings("code_host", place)).toEqual([
      expect.stringContaining(`✗ The secret file secrets/${current} cannot be read`),
    ]);
  });
});

test("doctor reports a database that it cannot access as an error, not as missing", async () => {
  const cwd = taken.newFolder();
  // A link to itself. Like a folder without permission, its content is unknown.
  symlinkSync("data", join(cwd, "data"));
  for (const about of ["data folder", "database", "token key", "personal data key"]) {
    expect(await findings(about, { cwd })).toEqual([expect.stringMatching(/^✗ .*ELOOP/)]);
  }
});
