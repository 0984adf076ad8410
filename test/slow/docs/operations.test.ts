import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { settings } from "../../../src/config/settings.ts";
import { commandBlocks, outputOf, page } from "../../docs/markdown.ts";
import { testSecret, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { failure } from "../../support/failure.ts";
import { deliverTo } from "../../support/load.ts";
import { ended } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";

const root = join(import.meta.dir, "../../..");
const taken = resources();

/** The commands on these pages that this file runs, with the mark above each. commands.test.ts runs the others. */
const blocks = ["docs/operations.md", "docs/postgresql.md", "docs/backup.md"].flatMap((file) =>
  commandBlocks(page(file)).flatMap(({ marker, code: script }) => {
    const [, mark] = /^run: ((?:deploy|move|rotate ).*)$/.exec(marker ?? "") ?? [];
    return mark === undefined ? [] : [{ mark, script }];
  }),
);

/** The commands under a mark, exactly as a reader would paste them. */
function commands(mark: string): string {
  const found = blocks.find((block) => block.mark === mark);
  if (found === undefined) throw new Error(`The pages have no ${mark}`);
  return found.script;
}

/** A folder with `skyhook` on its path. */
function workplace(settings: Readonly<Record<string, string>> = {}) {
  const folder = taken.newFolder();
  const onPath = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  onPath("skyhook", `exec "${process.execPath}" "${join(root, "src/main.ts")}" "$@"`);
  const start = (script: string, more: Readonly<Record<string, string>> = {}) =>
    Bun.spawn(["sh", "-ec", script], {
      cwd: folder,
      env: {
        PATH: `${folder}:${process.env["PATH"]}`,
        PORT: "1",
        WEBHOOK_PROVIDERS: "code_host",
        ...settings,
        ...more,
      },
      stdout: "pipe",
      stderr: "pipe",
    });
  return {
    folder,
    onPath,
    start,
    run: async (...given: Parameters<typeof start>) => {
      const { out, err, code } = await ended(start(...given));
      expect(code, err).toBe(0);
      return out;
    },
  };
}

describe("operating", () => {
  const ran = new Set<string>();
  afterAll(() => {
    const due = blocks.map(({ mark }) => mark).toSorted();
    if (noManyConnections === null) expect([...ran].toSorted()).toEqual(due);
  });

  test("its settings can be made", async () => {
    ran.add("deploy settings");
    const { folder, run } = workplace();
    cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
    await run(commands("deploy settings"));
    expect(readdirSync(join(folder, "deploy"))).toEqual(
      expect.arrayContaining([".env", "skyhook.env"]),
    );
  });

  test.skipIf(skips(noManyConnections))(
    "a database moves",
    async () => {
      ran.add("move");
      await using database = await postgresDatabase();
      const settings = { CODE_HOST_WEBHOOK_SECRET: testSecret("code_host") };
      const { folder, run, start } = workplace(settings);
      // Makes the keys that move, too.
      await (await taken.serve({ cwd: folder, env: settings })).stop();
      const token = (await run("skyhook token --email ada@example.com --role operator")).trim();
      const url = "postgres://skyhook@localhost:5432/skyhook";
      expect(commands("move")).toContain(url);
      const out = await run(commands("move").replace(url, `'${database.url}'`));
      expect(out).toMatch(outputOf("docs/postgresql.md", "run: move"));
      expect(out).toContain("is writable");
      expect(await database.run("select email from users")).toEqual([{ email: "ada@example.com" }]);

      ran.add("move and start");
      const env = { DATABASE_URL: database.url, PORT: "0", LOG_FORMAT: "json" };
      const server = start(commands("move and start"), env);
      let log = "";
      void (async () => {
        for await (const text of server.stdout.pipeThrough(new TextDecoderStream())) log += text;
      })();
      await until(() => outputOf("docs/postgresql.md", "run: move and start").test(log), 30_000);
      const pid = Number(/"pid":(\d+)/.exec(log)?.[1]);
      taken.ends.push(() => server.kill());
      const [, address = ""] = /serves on (http:\S+?)\/?"/.exec(log) ?? [];
      // Signed with the key of before.
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${address}/v1/events`, { headers })).status).toBe(200);
      process.kill(pid, "SIGTERM");
      await server.exited;

      ran.add("move back");
      const back = await run(`DATABASE_URL='${database.url}'\n${commands("move back")}`);
      expect(back).toMatch(/users +1 /);
      expect(back).toContain("data/skyhook.db has the current schema and is writable");
      // In a shell that goes on after a failure, too: now there are rows.
      const again = `set +e\n${commands("move").replace(url, `'${database.url}'`)}`;
      expect(await failure(run(again))).toMatchObject({
        message: expect.stringContaining("is not empty (it has users)"),
      });
    },
    90_000,
  );

  /** Whether a server accepts deliveries that are signed with a secret. */
  const accepts = async ({ run }: ReturnType<typeof workplace>, port: string, secret: string) =>
    (
      await run(`skyhook send code_host package.published --secret ${secret} || :`, { PORT: port })
    ).startsWith("200 accepted");

  test("a secret is rotated under systemd", async () => {
    ran.add("rotate under systemd");
    const place = workplace();
    const { folder, run, onPath } = place;
    const store = join(folder, "credstore");
    mkdirSync(store);
    writeFileSync(join(store, "code_host_webhook_secret"), "the-secret-of-before\n");
    // As LoadCredential= does, the process gets copies that it cannot change, at its start.
    const service = async () => {
      const copies = taken.newFolder();
      cpSync(store, copies, { recursive: true });
      for (const file of readdirSync(copies)) chmodSync(join(copies, file), 0o400);
      const env = {
        WEBHOOK_PROVIDERS: "code_host",
        SECRETS_DIR: copies,
        DATA_DIR: join(folder, "data"),
      };
      return taken.serve({ cwd: folder, env });
    };
    const before = await service();
    expect(await accepts(place, before.env.PORT, "the-secret-of-before")).toBe(true);
    onPath("systemctl", `echo "$@" >> "${folder}/systemctl.log"`);
    const own = commands("rotate under systemd").replace("/etc/credstore", store);
    await run(own, { NEW_SECRET: "the-secret-of-today" });
    expect(readFileSync(join(folder, "systemctl.log"), "utf8")).toBe("restart skyhook\n");
    // Without the restart, nothing has changed.
    expect(await accepts(place, before.env.PORT, "the-secret-of-today")).toBe(false);
    await before.stop();
    const { env } = await service();
    for (const secret of ["the-secret-of-before", "the-secret-of-today"]) {
      expect([secret, await accepts(place, env.PORT, secret)]).toEqual([secret, true]);
    }
    expect(await accepts(place, env.PORT, "another-secret-of-it")).toBe(false);
  }, 60_000);

  test.skipIf(skips(noManyConnections))(
    "a secret is rotated with Compose",
    async () => {
      ran.add("rotate with Compose");
      const database = await taken.database();
      const secrets = taken.newFolder();
      // What both containers have, as in deploy/compose.yaml: a volume with the secrets.
      const env = {
        WEBHOOK_PROVIDERS: "code_host",
        DATABASE_URL: database.url,
        SECRETS_DIR: secrets,
        JWT_SECRET: "the key of both, of 32 bytes or more",
        PERSONAL_DATA_KEY: Buffer.alloc(32, 7).toString("base64"),
      };
      const place = workplace(env);
      writeFileSync(join(secrets, "code_host_webhook_secret"), "the-secret-of-before");
      const one = await taken.serve({ env });
      const two = await taken.serve({ env });
      place.onPath(
        "docker",
        `shift 3
case "$1" in
  exec) shift 3; exec "$@" ;;
  kill) [ "$2 $3" = "--signal HUP" ]; shift 3
    for name; do case $name in skyhook-one) kill -HUP ${one.pid} ;; skyhook-two) kill -HUP ${two.pid} ;; esac; done ;;
esac`,
      );
      await place.run(commands("rotate with Compose"), { NEW_SECRET: "the-secret-of-today" });
      for (const server of [one, two]) {
        await until(() => server.log().includes("SIGHUP: webhook secrets reloaded"));
        for (const secret of ["the-secret-of-before", "the-secret-of-today"]) {
          expect([secret, await accepts(place, server.env.PORT, secret)]).toEqual([secret, true]);
        }
      }
    },
    60_000,
  );

  test.skipIf(skips(noManyConnections))(
    "an instance has the connections it says, and no more",
    async () => {
      // Dropped after the server has ended.
      const database = await taken.database();
      const poolSize = 3;
      const env = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: String(poolSize) };
      const server = await taken.start(taken.newFolder(), env);
      const connections = async () => {
        const [row] = await database.run(
          "select count(*)::int as open from pg_stat_activity where application_name = current_setting('application_name') and pid <> pg_backend_pid()",
        );
        return Number(row?.["open"]);
      };
      let most = 0;
      let last = 0;
      const work = async () => {
        while (last < 300) expect(await deliverTo(server, ++last)).toBe(200);
      };
      const loading = Promise.all(Array.from({ length: 32 }, work));
      await until(async () => {
        most = Math.max(most, await connections());
        return last >= 300;
      }, 20_000);
      await loading;
      expect(most).toBe(poolSize + 1);
    },
  );

  test("its arithmetic of connections comes out", () => {
    const poolSize = Number(settings.databasePoolSize.default);
    const instances = Number(
      /With the defaults of both .* that is (\d+) instances/.exec(page("docs/postgresql.md"))?.[1],
    );
    const needed = (count: number) => (count + 1) * (poolSize + 1) + (poolSize + 1) + 3;
    expect(needed(instances)).toBeLessThanOrEqual(100);
    expect(needed(instances + 1)).toBeGreaterThan(100);
  });
});
