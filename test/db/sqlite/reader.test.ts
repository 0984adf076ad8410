import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";

import { sql } from "drizzle-orm";

import { skyhookEntrypoints } from "../../../scripts/build.ts";
import { statementsOver, write } from "../../../src/db/statement.ts";
import { mutesTable } from "../../../src/operations/issues/issue.ts";
import { deleteMute, storeMute } from "../../../src/operations/issues/issues.sql.ts";
import { failure } from "../../support/failure.ts";
import { resources } from "../../support/resources.ts";
import { turns } from "../../support/turns.ts";

const taken = resources();
const statement = statementsOver({ mutes: mutesTable });
/** Counts to `rows`, and returns the mute with this id. */
const reading = (above: number) =>
  statement<{ rows: number; id: `iss_${string}` }>()((db, { mutes }, p) =>
    db
      .select()
      .from(mutes)
      .where(
        sql`${mutes.issueId} = ${p.id} and (with recursive n(n) as (select 1 union all select n + 1 from n where n < ${p.rows}) select count(*) from n) > ${above}`.inlineParams(),
      ),
  );
const slowly = reading(0);

async function openFile() {
  const file = taken.newFile();
  const storage = await taken.storage(`sqlite:${file}`);
  const mute = { issueId: "iss_one" as const, until: new Date(0) };
  await storage.atomically(write(storeMute, mute));
  return { storage, mute, file };
}

test("a long read returns what a short one does, while the event loop goes on", async () => {
  const { storage, mute } = await openFile();
  using turn = turns();
  const long = storage.all(slowly, { rows: 1_000_000, id: "iss_one" }, "long");
  expect(await storage.all(slowly, { rows: 1, id: "iss_one" })).toEqual([mute]);
  const before = turn.now();
  expect(await long).toEqual([mute]);
  expect(turn.now()).toBeGreaterThan(before + 10);
});

test("a long read sees what was committed before, and its error is that of a short one", async () => {
  const { storage } = await openFile();
  const damaged = statement()((db, { mutes }) =>
    db
      .select()
      .from(mutes)
      .where(sql`json_extract('{', '$') = 1 or ${mutes.issueId} = ''`),
  );
  const errorOf = (pace: "long" | "short") =>
    storage.all(damaged, {}, pace).then(
      () => "none",
      (error: unknown) => (error instanceof Error ? error.message : "none"),
    );
  const message = await errorOf("short");
  expect(message).toContain("malformed JSON");
  expect(await errorOf("long")).toBe(message);
  await storage.atomically(write(deleteMute, { issueId: "iss_one" }));
  expect(await storage.all(slowly, { rows: 1, id: "iss_one" }, "long")).toEqual([]);
});

test("statements take turns: many reads of one do not delay that of another", async () => {
  const { storage } = await openFile();
  const ends: string[] = [];
  const values = { rows: 10_000, id: "iss_one" } as const;
  const many = Array.from({ length: 50 }, async () => {
    await storage.all(slowly, values, "long");
    ends.push("many");
  });
  await storage.all(reading(1), values, "long");
  ends.push("one");
  await Promise.all(many);
  expect(ends.indexOf("one")).toBeLessThanOrEqual(2);
});

test("long reads of a statement beyond a thousand are rejected, and a close rejects those that wait", async () => {
  const { storage, mute } = await openFile();
  const reads = Array.from({ length: 1_002 }, () =>
    storage.all(slowly, { rows: 1_000, id: "iss_one" }, "long"),
  );
  const closed = storage.close();
  const ends = await Promise.allSettled(reads);
  await closed;
  expect(ends[0]).toMatchObject({ value: [mute] });
  expect(ends[1]).toMatchObject({ reason: { detail: expect.stringContaining("The database") } });
  expect(ends[1_001]).toMatchObject({ reason: { detail: expect.stringContaining("Too many") } });
  expect(await failure(storage.all(slowly, { rows: 1, id: "iss_one" }, "long"))).toMatchObject({
    code: "unavailable",
  });
});

test("a database that was put in the place of the open one is not read", async () => {
  const { storage, file } = await openFile();
  const other = await openFile();
  await other.storage.close();
  renameSync(other.file, file);
  expect(await failure(storage.all(slowly, { rows: 1, id: "iss_one" }, "long"))).toMatchObject({
    code: "unavailable",
  });
  await storage.close();
  using restored = new Database(file);
  expect(restored.query("select count(*) from mutes").values()).toEqual([[1]]);
});

test("the compiled program contains the entry of the reading thread", () => {
  expect(skyhookEntrypoints.some((file) => file.endsWith("reading-thread.ts"))).toBe(true);
});
