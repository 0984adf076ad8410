import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { createFile, writePrivately } from "../../src/base/private-file.ts";
import { secretStore } from "../../src/config/secrets.ts";
import { resources } from "../support/resources.ts";
import { notInstalled, skips } from "../support/skips.ts";

const taken = resources();

/** The reason why strace does not work here; null if it works. */
function straceError(): string | null {
  const missing = notInstalled("strace");
  if (missing !== null) return missing;
  const tried = Bun.spawnSync(["strace", "-o", "/dev/null", "true"]);
  return tried.success ? null : "strace does not work here";
}
const noStrace = straceError();

const store = join(import.meta.dir, "../../src/config/secrets.ts");

describe("writing a secret", () => {
  test.skipIf(skips(noStrace))(
    "syncs the file before it is renamed, and the folder before the secret is used",
    () => {
      const folder = taken.newFolder();
      const script = `const { secretStore } = await import(${JSON.stringify(store)});
      const secrets = secretStore({}, "./secrets");
      secrets.personalDataKeys("./data");
      secrets.storeWebhookSecret("code_host", "one", "current");`;
      const calls = join(folder, "calls");
      const traced = [
        "-f",
        "-qq",
        "-e",
        "trace=fsync,?link,?linkat,?rename,?renameat,?renameat2",
        "-o",
        calls,
      ];
      const run = Bun.spawnSync(["strace", ...traced, process.execPath, "-e", script], {
        cwd: folder,
      });
      expect([run.stderr.toString(), run.exitCode]).toEqual(["", 0]);
      const made = [...readFileSync(calls, "utf8").matchAll(/\b(fsync|link|rename)\w*\(/g)];
      // Sync the name of the new folder and the temporary file, name it, sync the folder: first for a new key
      // (link), then for a stored secret (rename).
      expect(made.map(([, call]) => call)).toEqual(
        ["link", "rename"].flatMap((naming) => ["fsync", "fsync", naming, "fsync"]),
      );
    },
  );

  test("ignores temporary files of other processes, even with its own process id, and leaves none", () => {
    const folder = taken.newFolder();
    const key = join(folder, "personal_data_key");
    const foreign = `${key}.${process.pid}.tmp`;
    writeFileSync(foreign, "another's");
    secretStore({}, join(folder, "secrets")).personalDataKeys(folder);
    expect(readFileSync(foreign, "utf8")).toBe("another's");
    expect(readdirSync(folder).toSorted()).toEqual([
      "personal_data_key",
      `personal_data_key.${process.pid}.tmp`,
    ]);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(existsSync(join(folder, "secrets"))).toBe(false);
  });

  test("leaves no temporary file when the rename fails", () => {
    const folder = taken.newFolder();
    const file = join(folder, "secret");
    mkdirSync(file);
    expect(() => writePrivately(file, "one")).toThrow();
    expect(readdirSync(folder)).toEqual(["secret"]);
  });
});

test("a new file replaces nothing and follows no link", () => {
  const folder = taken.newFolder();
  const at = (name: string) => join(folder, name);
  createFile(at("new"), "text");
  expect([readFileSync(at("new"), "utf8"), statSync(at("new")).mode & 0o777]).toEqual([
    "text",
    0o644,
  ]);
  symlinkSync(at("elsewhere"), at("link"));
  for (const name of ["new", "link"]) {
    expect(() => createFile(at(name), "other")).toThrow("EEXIST");
  }
  expect([readFileSync(at("new"), "utf8"), existsSync(at("elsewhere"))]).toEqual(["text", false]);
  expect(readdirSync(folder).toSorted()).toEqual(["link", "new"]);
});
