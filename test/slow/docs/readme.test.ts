import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { until } from "../../support/app.ts";
import { compiledProgram, ended } from "../../support/program.ts";

const root = join(import.meta.dir, "../../..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "skyhook-readme-"));

/** With a compiled program, its path in place of `bun skyhook`: there is no source to run. */
function asInstalled(script: string): string {
  if (compiledProgram === null) return script;
  const program = resolve(compiledProgram);
  return script.replace("bun start", `${program} serve`).replaceAll("bun skyhook", program);
}

function copySource(): void {
  for (const entry of ["src", "package.json", "tsconfig.json", "bunfig.toml"]) {
    cpSync(join(root, entry), join(folder, entry), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

/** The commands under a marker of the README, unchanged. */
function commands(marker: string): string {
  const found = new RegExp(`<!-- ${marker} -->\\n+\`\`\`sh\\n(.*?)\`\`\``, "s").exec(readme)?.[1];
  if (found === undefined) throw new Error(`The README has no ${marker}`);
  return found;
}

describe("README", () => {
  let port = 0;
  let server: Bun.Subprocess<"ignore", "pipe", "inherit">;
  let log = "";

  /** Runs commands of the README in the copy, against the server's own port. */
  async function run(script: string): Promise<string> {
    const env = { ...clean(), PORT: String(port) };
    const child = Bun.spawn(
      ["bash", "-c", asInstalled(script).replaceAll("localhost:3111", `localhost:${port}`)],
      { cwd: folder, env, stdout: "pipe", stderr: "pipe" },
    );
    const { out, err, code } = await ended(child);
    if (code > 1) throw new Error(err);
    return out;
  }

  const clean = () => ({
    PATH: `${join(process.execPath, "..")}:${process.env["PATH"]}`,
    HOME: process.env["HOME"] ?? "/",
  });

  beforeAll(async () => {
    if (compiledProgram === null) copySource();
    const [, , start = ""] = commands("command: start").trim().split(" && ");
    server = Bun.spawn(["bash", "-c", `exec ${asInstalled(start)}`], {
      cwd: folder,
      env: { ...clean(), PORT: "0" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    void (async () => {
      for await (const chunk of server.stdout) log += new TextDecoder().decode(chunk);
    })();
    await until(() => /skyhook serves on http:\/\/[^:]+:(\d+)/.test(log), 15_000);
    port = Number(/skyhook serves on http:\/\/[^:]+:(\d+)/.exec(log)?.[1]);
    expect(await run(commands("run: secrets"))).toContain("has loaded its secrets again");
  });
  afterAll(async () => {
    server.kill("SIGTERM");
    await server.exited;
    rmSync(folder, { recursive: true });
  });

  test("is at most 800 words long", () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(800);
  });

  test("sends all twelve events, each accepted", async () => {
    const output = await run(commands("run: send"));
    expect(output.match(/^200 accepted/gm)).toHaveLength(12);
    await until(() => (log.match(/notification: /g)?.length ?? 0) >= 11, 15_000);
  }, 60_000);

  test("lists events and rejections", async () => {
    const output = await run(commands("run: events"));
    expect(output).toMatch(/^401 /m);
    expect(output.match(/^2\S+ +\w+ .* evt_\w+$/gm)).toHaveLength(5);
    expect(output).toMatch(/ code_host +workflow_run\.completed +wrong-signature +unknown +rej_/);
  }, 30_000);

  test("books a seat, quotes the refund, cancels and lists the booking", async () => {
    const output = await run(commands("run: book"));
    expect(output).toContain("1 flight imported");
    expect(output).toContain('"totalResults":1');
    expect(output).toContain('"status":"confirmed","totalPrice":499.5,"currency":"USD"');
    expect(output).toContain('"quotedAt"');
    expect(output).toContain('"refund":{"amount":499.5,"currency":"USD","percent":100');
    expect(output).toContain('"status":"cancelled"');
    expect(output).not.toContain('"type":"/problems/');
  }, 30_000);

  test("queries the same by GraphQL", async () => {
    const token = "export USER_TOKEN=$(bun skyhook token --email ada@example.com)\n";
    const output = await run(token + commands("run: graphql"));
    expect(output).toContain('"me":{"name":"ada","email":"ada@example.com"}');
    expect(output).toContain('"flightNumber":"SK100"');
    expect(output).toContain('"status":"cancelled"');
    expect(output).not.toContain('"errors"');
  }, 30_000);
});
