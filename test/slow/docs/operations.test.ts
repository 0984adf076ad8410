import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { settings } from "../../../src/config/settings.ts";
import { outputOf } from "../../docs/markdown.ts";
import { testSecret, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { failure } from "../../support/failure.ts";
import { deliverTo } from "../../support/load.ts";
import { ended } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";

const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/operations.md"), "utf8");
const taken = resources();

/** The commands on the page that this file runs, with the mark above each. commands.test.ts runs the others. */
const blocks = [...page.matchAll(/<!-- run: ((?:deploy|move).*?) -->\n```sh\n(.*?)```/gs)].map(
  ([, mark = "", script = ""]) => ({ mark, script }),
);

/** The commands under a mark, exactly as a reader would paste them. */
function commands(mark: string): string {
  const found = blocks.find((block) => block.mark === mark);
  if (found === undefined) throw new Error(`The page has no ${mark}`);
  return found.script;
}

/** A folder with `skyhook` on its path. */
function workplace() {
  const folder = taken.newFolder();
  const program = join(folder, "skyhook");
  const main = join(root, "src/main.ts");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(program, 0o755);
  return {
    folder,
    run: async (script: string) => {
      const child = Bun.spawn(["sh", "-ec", script], {
        cwd: folder,
        env: {
          PATH: `${folder}:${process.env["PATH"]}`,
          PORT: "1",
          WEBHOOK_PROVIDERS: "code_host",
          CODE_HOST_WEBHOOK_SECRET: testSecret("code_host"),
        },
        stdout: "pipe",
        stderr: "pipe",
      });
      const { out, err, code } = await ended(child);
      expect(code, err).toBe(0);
      return out;
    },
  };
}

describe("docs/operations.md", () => {
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

  test.skipIf(skips(noManyConnections))("a database moves", async () => {
    ran.add("move");
    await using database = await postgresDatabase();
    const { run } = workplace();
    await run("skyhook token --email ada@example.com");
    const url = "postgres://skyhook@localhost:5432/skyhook";
    expect(commands("move")).toContain(url);
    const out = await run(commands("move").replace(url, `'${database.url}'`));
    expect(out).toMatch(outputOf("docs/operations.md", "run: move"));
    expect(out).toContain("is writable");
    expect(await database.run("select email from users")).toEqual([{ email: "ada@example.com" }]);

    ran.add("move back");
    const back = await run(`DATABASE_URL='${database.url}'\n${commands("move back")}`);
    expect(back).toMatch(/users +1 /);
    expect(back).toContain("data/skyhook.db has the current schema and is writable");
    // In a shell that goes on after a failure, too: now there are rows.
    const again = `set +e\n${commands("move").replace(url, `'${database.url}'`)}`;
    expect(await failure(run(again))).toMatchObject({
      message: expect.stringContaining("is not empty (it has users)"),
    });
  });

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
      /With the defaults of both .* that is (\d+) instances/.exec(page)?.[1],
    );
    const needed = (count: number) => (count + 1) * (poolSize + 1) + (poolSize + 1) + 3;
    expect(needed(instances)).toBeLessThanOrEqual(100);
    expect(needed(instances + 1)).toBeGreaterThan(100);
  });
});
