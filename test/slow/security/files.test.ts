import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";

const cwd = temporaryFolder();
let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop();
  removeFolder(cwd);
});

test("files of the server are accessible by their owner only, with any umask, and keys are never printed [API8-13]", async () => {
  // With this umask, new files are accessible by everyone by default.
  const through = ["sh", "-c", 'umask 000; exec "$@"', "sh"];
  server = await startServer({ cwd, through });
  const made = await runSkyhook(["client", "add", "--name", "a"], {
    cwd,
    env: server.env,
    through,
  });
  expect(made.code).toBe(0);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const data = join(cwd, "data");
  expect(mode(data)).toBe("700");
  const files = readdirSync(data).toSorted();
  expect(files).toEqual([
    "jwt_secret",
    "personal_data_key",
    "skyhook.db",
    "skyhook.db-shm",
    "skyhook.db-wal",
    "skyhook.lock",
    "skyhook.lock.json",
  ]);
  expect(files.map((file) => mode(join(data, file)))).toEqual(files.map(() => "600"));

  const config = await runSkyhook(["config"], { cwd, env: server.env });
  const doctor = await runSkyhook(["doctor"], { cwd, env: server.env });
  const [, secret = "?"] = /client_secret=(\S+)/.exec(made.out) ?? [];
  const keys = ["jwt_secret", "personal_data_key"].map((file) =>
    readFileSync(join(data, file), "utf8").trim(),
  );
  const stored = files.map((file) => readFileSync(join(data, file), "latin1")).join();
  for (const key of keys) {
    expect(server.log() + config.out + doctor.out + doctor.err).not.toContain(key);
  }
  // Only the hash of a client secret is stored.
  expect(secret).toHaveLength(43);
  expect(stored).not.toContain(secret);
});
