import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";

import { allSecrets, besideServer, everything } from "../../../support/cli.ts";
import { openedBeside } from "../../../support/rows.ts";

const { beside, skyhook, newFolder } = besideServer();

describe("skyhook doctor", () => {
  const marks = (out: string) =>
    [...out.matchAll(/^([✓!✗]) +(\S.*?) {2,}/gm)].map(([, mark, about]) => `${mark} ${about}`);

  test("finds no problem beside a running server", async () => {
    await beside("send", "task_tracker", "task.completed");
    const { out, err, code } = await beside("doctor");
    expect(out).not.toMatch(/[!✗]/);
    expect(out).toMatch(/last task_tracker +(?:\d+ s ago|just now), task\./);
    expect(out).toMatch(/has the current schema and is writable/);
    expect(out).toMatch(/\/readyz answers/);
    expect(out).not.toContain("secret of task_tracker");
    expect([err, code]).toEqual(["", 0]);
  });

  test("creates nothing before the first start", async () => {
    const cwd = newFolder();
    const { out, code } = await skyhook(["doctor"], { cwd, env: everything });
    expect(marks(out)).toEqual(expect.arrayContaining(["! data folder", "! database", "! server"]));
    expect(out.match(/does not exist yet/g)).toHaveLength(2);
    expect(code).toBe(0);
    expect([...new Bun.Glob("**").scanSync({ cwd, onlyFiles: false, dot: true })]).toEqual([]);
  });

  test("does not require a data folder that is not used", async () => {
    const cwd = newFolder();
    await Bun.write(join(cwd, "no-folder"), "");
    const elsewhere = {
      DATA_DIR: "no-folder",
      DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
      JWT_SECRET: "0123456789abcdef0123456789abcdef",
    };
    const run = (env: Record<string, string>) => skyhook(["doctor"], { cwd, env });
    const [given, made] = await Promise.all([
      run({ ...elsewhere, PERSONAL_DATA_KEY: Buffer.alloc(32, 1).toString("base64") }),
      run(elsewhere),
    ]);
    expect(given.out).toMatch(/✓ +data folder +no-folder is not used/);
    expect(marks(made.out)).toContain("✗ data folder");
  });

  test("does not change the database", async () => {
    const cwd = newFolder();
    await skyhook(["token", "--email", "a@b.c"], { cwd });
    await skyhook(["doctor"], { cwd });
    const database = openedBeside(join(cwd, "data/skyhook.db"));
    expect(database.query("select email from users").all()).toEqual([{ email: "a@b.c" }]);
    database.close();
  });

  test("names every missing or doubtful secret, and prints none", async () => {
    const cwd = newFolder();
    const file = join(cwd, "secrets/shared_inbox_webhook_secret");
    await Bun.write(file, "same-secret-at-two-providers");
    chmodSync(file, 0o644);
    const env = {
      WEBHOOK_PROVIDERS: everything.WEBHOOK_PROVIDERS,
      TASK_TRACKER_WEBHOOK_SECRET: " hunter2-hunter2-hunter2",
      DEPLOY_PLATFORM_WEBHOOK_SECRET: "same-secret-at-two-providers",
      CODE_HOST_WEBHOOK_SECRET: "",
      PAYMENT_PROCESSOR_WEBHOOK_SECRET: "short",
    };
    const { out, code } = await skyhook(["doctor"], { cwd, env });
    expect(out).toMatch(/! +task_tracker .*white space around it/);
    expect(out).toMatch(/! +shared_inbox .*chmod 600 secrets/);
    expect(out).toMatch(/! +shared_inbox .*same secret as deploy_platform/);
    expect(out).toMatch(/✗ +code_host .*is empty/);
    expect(out).toMatch(/! +payment_processor .*fewer than 16/);
    expect(out).toMatch(/! +payment_processor .*whsec_/);
    expect(out).not.toMatch(/hunter2|same-secret|short\b/);
    expect(code).toBe(1);
    const example = { CODE_HOST_WEBHOOK_SECRET: "It's a Secret to Everybody" };
    const published = await skyhook(["doctor"], { cwd, env: { ...env, ...example } });
    expect(published.out).toMatch(/! +code_host .*is an example from documentation/);
    const none = await skyhook(["doctor"]);
    expect(marks(none.out)).toEqual(expect.arrayContaining(["✗ task_tracker", "✗ code_host"]));
    expect(none.code).toBe(1);
  });

  test("warns of test payments beside a live key", async () => {
    const cwd = newFolder();
    const run = async (token: string) =>
      (
        await skyhook(["doctor"], {
          cwd,
          env: {
            ...everything,
            PAYMENT_PROCESSOR_TEST_MODE: "true",
            PAYMENT_PROCESSOR_API_TOKEN: token,
          },
        })
      ).out;
    const live = await run(`rk_live_${"x".repeat(24)}`);
    expect(live).toMatch(/! +test payments +.*unset PAYMENT_PROCESSOR_TEST_MODE/);
    expect(live).not.toContain("rk_live_");
    expect(await run(`sk_test_${"x".repeat(24)}`)).toMatch(/✓ +test payments/);
  });

  test("finds an invalid setting, folder, key, clock, database and server", async () => {
    const cwd = newFolder();
    await Bun.write(
      join(cwd, "none.db"),
      "This is no database, but a long enough text. ".repeat(40),
    );
    await Bun.write(join(cwd, "data/jwt_secret"), "short");
    new Database(join(cwd, "older.db"), { create: true }).run("create table t (a)");
    await skyhook(["token", "--email", "a@b.c"], { cwd, env: { DATA_DIR: "ahead" } });
    const ahead = new Database(join(cwd, "ahead/skyhook.db"));
    ahead.run(
      "insert into events (position, tail, provider, type, status, idempotency_key, occurred_at, title, data, body_bytes, duplicates) values (?1 * 1024, 1, 'code_host', 'push', 'ignored', 'code_host:1', ?1, 't', '{}', 0, 0)",
      [Date.now() + 3_600_000],
    );
    ahead.close();
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hi") });
    const run = (env: Record<string, string>) =>
      skyhook(["doctor"], { cwd, env: { ...allSecrets, ...env } });
    const [setting, unreadable, folderless, older, future, occupied] = await Promise.all([
      run({ PORT: "many" }),
      run({ DATABASE_URL: "sqlite:none.db" }),
      run({ DATA_DIR: "none.db" }),
      run({ DATA_DIR: "new", DATABASE_URL: "sqlite:older.db" }),
      run({ DATA_DIR: "ahead" }),
      run({ DATA_DIR: "new", PORT: String(other.port) }),
    ]);
    await other.stop();
    expect(marks(setting.out)).toEqual(["✗ configuration"]);
    expect(marks(unreadable.out)).toEqual(expect.arrayContaining(["✗ database", "✗ token key"]));
    expect(marks(folderless.out)).toContain("✗ data folder");
    expect(older).toMatchObject({ out: expect.stringMatching(/! +database .*0\.1\.0/), code: 0 });
    expect(marks(future.out)).toContain("✗ clock");
    expect(occupied.out).toMatch(/✗ +server .*another program answers/);
    for (const { code, err } of [setting, unreadable, folderless, future, occupied])
      expect([err, code]).toEqual(["", 1]);
  });
});
