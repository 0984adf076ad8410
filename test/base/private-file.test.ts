import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { writePrivately } from "../../src/base/private-file.ts";
import { secretStore } from "../../src/config/secrets.ts";

import { resources } from "../support/resources.ts";

const taken = resources();

/** Why system calls cannot be seen here; null when they can. */
function blindness(): string | null {
  const strace = Bun.which("strace");
  if (strace === null) return "strace is not installed";
  const tried = Bun.spawnSync([strace, "-o", "/dev/null", "true"]);
  return tried.success ? null : `strace may not trace here (${tried.stderr.toString().trim()})`;
}
const blind = blindness();
if (blind !== null) console.log(`skipped: ${blind}`);

const store = join(import.meta.dir, "../../src/config/secrets.ts");

describe("a secret that is written", () => {
  test.skipIf(blind !== null)(
    "is on disk before it has its name, and its name before it is used",
    () => {
      const folder = taken.newFolder();
      const script = `const { secretStore } = await import(${JSON.stringify(store)});
      const secrets = secretStore({}, "./secrets");
      secrets.personalDataKeys("./data");
      secrets.storeWebhookSecret("code_host", "one");`;
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
      const steps = [...readFileSync(calls, "utf8").matchAll(/\b(fsync|link|rename)\w*\(/g)];
      // The draft is on disk, gets its name, and the name is on disk: a key that is made, and a secret.
      expect(steps.map(([, call]) => call)).toEqual(
        ["link", "rename"].flatMap((naming) => ["fsync", naming, "fsync"]),
      );
    },
  );

  test("meets no draft of another process, whatever its id, and leaves none", () => {
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

  test("leaves no draft where it could not get its name", () => {
    const folder = taken.newFolder();
    const file = join(folder, "secret");
    mkdirSync(file);
    expect(() => writePrivately(file, "one")).toThrow();
    expect(readdirSync(folder)).toEqual(["secret"]);
  });
});
