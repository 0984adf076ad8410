import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import {
  hasWalResetBug,
  requireSafeSqlite,
  syncCommits,
  versionOf,
} from "../../../src/db/sqlite/durability.ts";
import { skips } from "../../support/skips.ts";

describe("the WAL-reset bug", () => {
  test.each([
    ["3.6.23", false],
    ["3.7.0", true],
    ["3.7.17", true],
    ["3.43.2", true],
    ["3.44.0", true],
    ["3.44.5", true],
    ["3.44.6", false],
    ["3.45.0", true],
    ["3.49.2", true],
    ["3.50.6", true],
    ["3.50.7", false],
    ["3.51.0", true],
    ["3.51.2", true],
    ["3.51.3", false],
    ["3.52.0", false],
    ["3.54.1", false],
    ["4.0.0", false],
  ])("of SQLite %s: %p", (version, expected) => {
    expect(hasWalResetBug(version)).toBe(expected);
  });

  test("prevents the use of a database file, with what to do [DB-19]", () => {
    expect(() => requireSafeSqlite("3.51.2")).toThrow(
      /^SQLite 3\.51\.2 can corrupt .*: run skyhook/,
    );
  });

  const ofSystem = process.platform === "darwin" ? "Bun uses the SQLite of macOS" : null;
  test.skipIf(skips(ofSystem))("is fixed in Bun's SQLite", () => {
    using client = new Database(":memory:");
    expect(hasWalResetBug(versionOf(client))).toBe(false);
  });
});

test("commits are synced, on macOS through the cache of the drive", () => {
  using client = new Database(":memory:");
  syncCommits(client);
  const value = (name: string) => client.query(`pragma ${name}`).values()[0]?.[0];
  const full = 2;
  expect(["synchronous", "fullfsync", "checkpoint_fullfsync"].map(value)).toEqual([full, 1, 1]);
});
