import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { targets } from "../../../scripts/build.ts";
import { packNpm } from "../../../scripts/pack/npm.ts";
import { version } from "../../../src/base/version.ts";
import { until } from "../../support/app.ts";
import { ended, removeFolder, temporaryFolder } from "../../support/program.ts";
import { notInstalled, skips } from "../../support/skips.ts";

setDefaultTimeout(120_000);

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** In place of the program: prints its arguments and the signals that it gets, and ends as the first argument says. */
const program = `#!/usr/bin/env node
const [how] = process.argv.slice(2);
for (const signal of ["SIGINT", "SIGHUP", "SIGUSR2"]) process.on(signal, () => console.log(signal));
process.on("SIGTERM", () => process.exit(7));
if (how === "wait") setTimeout(() => {}, 30_000);
else if (how === "die") process.kill(process.pid, "SIGKILL");
else process.exitCode = 3;
console.log("started by", String(process.ppid), ...process.argv.slice(2));
`;
const programFile = join(folder, "program");
writeFileSync(programFile, program);
const tarballs = await packNpm(targets, () => programFile, join(folder, "first"));
const again = await packNpm(targets, () => programFile, join(folder, "second"));

const tarballOf = (name: string) => join(folder, "first", `${name}-${version}.tgz`);
const filesOf = (name: string) => new Bun.Archive(readFileSync(tarballOf(name))).files();

async function run(command: readonly string[], cwd = folder, env: Record<string, string> = {}) {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return ended(child);
}

describe("the packages", () => {
  test("come in the order in which they depend on each other", () => {
    const names = [...targets.map((target) => `skyhook-${target}`), "skyhook-client", "skyhook"];
    expect(tarballs.map((file) => basename(file))).toEqual(
      names.map((name) => `${name}-${version}.tgz`),
    );
  });

  test("have the same bytes when they are packed again", () => {
    const bytes = (files: readonly string[]) =>
      files.map((file) => Bun.SHA256.hash(readFileSync(file), "hex"));
    expect(bytes(again)).toEqual(bytes(tarballs));
  });

  test.each([
    ["linux-x64", ["linux"], ["x64"], ["glibc"], "skyhook"],
    ["linux-arm64-musl", ["linux"], ["arm64"], ["musl"], "skyhook"],
    ["darwin-arm64", ["darwin"], ["arm64"], undefined, "skyhook"],
    ["windows-x64", ["win32"], ["x64"], undefined, "skyhook.exe"],
  ] as const)(
    "for %s is installed nowhere else, and has the program",
    async (target, os, cpu, libc, file) => {
      const files = await filesOf(`skyhook-${target}`);
      const manifest = JSON.parse((await files.get("package/package.json")?.text()) ?? "");
      expect({ os: manifest.os, cpu: manifest.cpu, libc: manifest.libc }).toEqual({
        os,
        cpu,
        libc,
      });
      expect([...files.keys()]).toEqual(
        ["LICENSE", "README.md", "package.json", file].map((name) => `package/${name}`),
      );
    },
  );

  test("run no script during the installation, and name each other by exact version", async () => {
    const manifest = JSON.parse(
      (await (await filesOf("skyhook")).get("package/package.json")?.text()) ?? "",
    );
    expect(Object.values(manifest.optionalDependencies)).toEqual(targets.map(() => version));
    for (const target of targets) {
      const files = await filesOf(`skyhook-${target}`);
      expect(await files.get("package/package.json")?.text()).not.toContain('"scripts"');
    }
    expect(manifest.scripts).toBeUndefined();
  });

  test("are not packed without an executable", () => {
    const packing = packNpm(["linux-x64"], () => join(folder, "nothing"), join(folder, "third"));
    expect(packing).rejects.toThrow("bun run build --target linux-x64");
  });
});

const judge = join(folder, "judge");
mkdirSync(judge);
const judging = ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "publint@0.3.25"];
/** Of this clone: each package is downloaded once. */
const cache = join(import.meta.dir, "../../../node_modules/.cache/npm");
const { code: judgeCode } = await run(judging, judge, { npm_config_cache: cache });
const isSkippedUnjudged = skips(
  judgeCode === 0 ? null : "the package registry does not return publint",
);

test
  .skipIf(isSkippedUnjudged)
  .each(["skyhook", "skyhook-linux-x64-musl", "skyhook-windows-x64", "skyhook-client"])(
  "publint finds nothing in %s",
  async (name) => {
    const { out, code } = await run(["npx", "publint", "--strict", tarballOf(name)], judge);
    expect(out).toContain("All good!");
    expect(code).toBe(0);
  },
);

describe("the command", () => {
  const installed = join(folder, "node_modules");
  const command = ["node", join(installed, "skyhook/skyhook.js")];
  const here = `skyhook-${process.platform}-${process.arch}`;

  beforeAll(async () => {
    for (const name of ["skyhook", here]) await install(name);
  });

  const started: Bun.Subprocess[] = [];
  afterAll(() => {
    for (const child of started) child.kill("SIGKILL");
  });

  /** As npm does: the content of `package/`, with its modes. */
  async function install(name: string): Promise<void> {
    const target = join(installed, name);
    mkdirSync(target, { recursive: true });
    const extract = ["tar", "--strip-components=1", "-C", target, "-xzf", tarballOf(name)];
    expect((await run(extract)).code).toBe(0);
  }

  /** Starts the command until the program waits for a signal. */
  async function waiting(starting: readonly string[] = [...command, "wait"]) {
    const child = Bun.spawn([...starting], {
      cwd: folder,
      stdin: "pipe",
      stdout: "pipe",
    });
    started.push(child);
    let out = "";
    const reading = (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) out += text;
    })();
    const shows = (text: string) => until(() => out.includes(text), 10_000);
    await shows("wait");
    return {
      child,
      shows,
      signals: () => out.match(/SIG\w+/g),
      pid: Number(/by (\d+)/.exec(out)?.[1]),
      reading,
    };
  }

  test.each([["node"], [process.execPath]])(
    "passes arguments, output and exit code with %s",
    async (runtime) => {
      const result = await run([runtime, command[1] ?? "", "token", "--email", "a b"]);
      expect(result.out).toEndWith(" token --email a b\n");
      expect([result.err, result.code]).toEqual(["", 3]);
    },
  );

  const passed = ["SIGINT", "SIGHUP", "SIGUSR2"] as const;
  test("passes signals, and ends when the program ends", async () => {
    const { child, shows, signals, reading } = await waiting();
    for (const signal of passed) {
      child.kill(signal);
      await shows(signal);
    }
    child.kill("SIGTERM");
    expect(await child.exited).toBe(7);
    await reading;
    expect(signals()).toEqual([...passed]);
  });

  test.skipIf(skips(notInstalled("script")))(
    "sends the program nothing for Ctrl-C, which it gets itself",
    async () => {
      const terminal = ["script", "--quiet", "--command", `${command.join(" ")} wait`, "/dev/null"];
      const { child, shows, signals, pid, reading } = await waiting(terminal);
      void child.stdin.write("\u0003");
      await child.stdin.flush();
      await shows("SIGINT");
      // After whatever else was sent.
      process.kill(pid, "SIGUSR2");
      await shows("SIGUSR2");
      process.kill(pid, "SIGTERM");
      await child.exited;
      await reading;
      expect(signals()).toEqual(["SIGINT", "SIGUSR2"]);
    },
  );

  test("ends by the signal that ended the program", async () => {
    const child = Bun.spawn([...command, "die"], { cwd: folder, stdout: "ignore" });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
  });

  test("lists the platforms when there is no program for this one", async () => {
    const other =
      "data:text/javascript,Object.defineProperty(process, 'platform', { value: 'sunos' })";
    const { err, code } = await run(["node", "--import", other, command[1] ?? "", "demo"]);
    expect(err).toBe(
      `skyhook does not run on sunos-${process.arch}. It runs on ${targets.join(", ")}.\n`,
    );
    expect(code).toBe(1);
  });

  test("explains what is missing when optional packages were skipped", async () => {
    rmSync(join(installed, here), { recursive: true });
    const { err, code } = await run([...command, "demo"]);
    expect(err).toStartWith(
      `The package ${here}, which has the program for this platform, is not installed.`,
    );
    expect(err).toContain("--omit=optional");
    expect(err).toContain(`npm view ${here}@${version}`);
    expect([err.includes("at "), code]).toEqual([false, 1]);
    await install(here);
  });

  test("says which program cannot be started", async () => {
    const file = join(installed, here, "skyhook");
    chmodSync(file, 0o644);
    const { err, code } = await run([...command, "demo"]);
    expect(err).toMatch(/skyhook cannot be started: .*EACCES/);
    expect(code).toBe(1);
  });
});
