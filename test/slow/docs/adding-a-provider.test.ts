import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { commandsOf } from "../../docs/markdown.ts";
import { isOwn } from "../../support/altered-copy.ts";
import { ended, plainEnvironment } from "../../support/program.ts";

const root = join(import.meta.dir, "../../..");
const guide = "CONTRIBUTING.md";
const page = readFileSync(join(root, guide), "utf8");
const copy = mkdtempSync(join(tmpdir(), "skyhook-provider-"));

/** What the program, its tests and the pages they read are made of. */
const entries =
  "src test docs deploy bench examples scripts schema.graphql package.json bun.lock tsconfig.json bunfig.toml README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md".split(
    " ",
  );

/** Tests that go through the catalogue, the first two provider by provider. */
const suites = [
  "test/inbound/signatures/signature.test.ts",
  "test/inbound/providers/providers.test.ts",
  "test/web/rest/http.test.ts",
  "test/inbound/receive/receive.test.ts",
  "test/deploy/deploy.test.ts",
  "test/docs/pages.test.ts",
];

/** The code blocks of the page that name a file. */
const blocks = [...page.matchAll(/^```(\w+) file=(\S+)\n(.*?)^```$/gms)].map(
  ([, language = "", file = "", code = ""]) => ({ language, file, code }),
);

beforeAll(() => {
  for (const entry of entries) {
    cpSync(join(root, entry), join(copy, entry), isOwn);
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const { language, file, code } of blocks) {
    const path = join(copy, file);
    writeFileSync(path, language === "diff" ? patched(readFileSync(path, "utf8"), code) : code);
  }
});
afterAll(() => rmSync(copy, { recursive: true }));

describe("CONTRIBUTING.md#add-a-provider-in-typescript", () => {
  test("adds a provider by one file, one fixture and one line", () => {
    expect(blocks.map(({ file }) => file)).toEqual([
      "src/inbound/providers/status_page.samples.ts",
      "src/inbound/providers/status_page.ts",
      "src/inbound/providers/catalogue.ts",
    ]);
  });

  test("gives code that type-checks", async () => {
    expect(await run("check", "--no-script")).toContain("No type errors");
  });

  test("gives the command that generates the other files", async () => {
    const child = shell(commandsOf(guide, "run: provider docs"), 0);
    expect(await child.exited).toBe(0);
    const files = ["docs/settings.md", "deploy/skyhook.service", "docs/webhooks.md"];
    for (const file of files)
      expect(readFileSync(join(copy, file), "utf8")).toContain("status_page");
  });

  test("gets the whole signature suite and the provider tests", async () => {
    const output = await run("test", ...suites.slice(0, 2), "-t", "status_page");
    expect(output).toMatch(/^ 0 fail$/m);
    const passed = Number(/^ (\d+) pass$/m.exec(output)?.[1]);
    expect(passed).toBeGreaterThan(45);
  });

  test("breaks none of the tests that go through every provider", async () => {
    const output = await run("test", ...suites);
    expect(output.split("\n").filter((line) => line.startsWith("(fail)"))).toEqual([]);
    expect(output).toMatch(/^ 0 fail$/m);
  }, 120_000);

  test("gives commands that show it at work", async () => {
    const [start, send] = ["run: provider start", "run: provider send"].map((marker) =>
      commandsOf(guide, marker),
    );
    const variables = start?.split("\n").filter((line) => line.startsWith("export ")) ?? [];
    const server = shell(start?.replace("bun start", "exec bun start") ?? "", 0);
    try {
      let log = "";
      for await (const text of server.stdout.pipeThrough(new TextDecoderStream())) {
        log += text;
        if (log.includes("skyhook serves on")) break;
      }
      const port = Number(/serves on http:\/\/[^:]+:(\d+)/.exec(log)?.[1]);
      const sending = shell([...variables, send].join("\n"), port);
      expect(await sending.stdout.text()).toMatch(/^200 accepted.*^401 /ms);
    } finally {
      server.kill("SIGTERM");
      await server.exited;
    }
  }, 30_000);
});

/** A file with the added lines of a diff put in, each group after or before its context line. */
function patched(text: string, diff: string): string {
  const [importLine = "", context = "", entry = ""] = diff.trimEnd().split("\n");
  const at = context.slice(1);
  if (!text.includes(`${at}\n`)) throw new Error(`No line: ${at}`);
  return `${importLine.slice(1)}\n${text.replace(`${at}\n`, `${at}\n${entry.slice(1)}\n`)}`;
}

/** Pasted commands, in a shell of their own. */
function shell(commands: string, port: number) {
  const PATH = `${join(process.execPath, "..")}:${process.env["PATH"]}`;
  return Bun.spawn(["bash", "-c", commands], {
    cwd: copy,
    env: { PATH, HOME: copy, HOST: "127.0.0.1", PORT: String(port), LOG_FORMAT: "json" },
    stdio: ["ignore", "pipe", "ignore"],
  });
}

async function run(...args: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: copy,
    env: plainEnvironment(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { out, err } = await ended(child);
  return `${out}\n${err}`;
}
