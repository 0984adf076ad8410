// Rehearses the publication on npm: a registry on this machine gets the tarballs, then each package manager starts the
// demo in a clean folder, and a browser signs in with the link that it prints.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { version } from "../../src/base/version.ts";
import { openBrowser } from "../../test/support/browser.ts";
import { freePort } from "../../test/support/free-port.ts";
import { output } from "../command.ts";

import { rejected } from "./steps.ts";

const cache = join(import.meta.dir, "../../node_modules/.cache/npm");
const installTimeoutMs = 180_000;
/** How long the demo may take from the command to a console that is signed in. */
const limitMs = 60_000;

/** The registry's own packages. One of them names a tag that not every registry has. */
const tools = {
  private: true,
  dependencies: { verdaccio: "6.8.0", pnpm: "12.21.0", node: "22.23.3" },
  overrides: { "node-fetch": "2.7.0" },
};

/** A registry that has only what is published on it. Its packages come from the registry of npm's settings. */
class Registry {
  readonly url = `http://127.0.0.1:${freePort()}/`;
  readonly folder = mkdtempSync(join(tmpdir(), "skyhook-registry-"));
  readonly bin = join(this.folder, "node_modules/.bin");
  #server: Bun.Subprocess | undefined;

  async start(): Promise<void> {
    const npmrc = `registry=${this.url}\n//${new URL(this.url).host}/:_authToken=rehearsal\n`;
    writeFileSync(join(this.folder, "package.json"), JSON.stringify(tools));
    writeFileSync(join(this.folder, "published.npmrc"), npmrc);
    const config = {
      storage: join(this.folder, "storage"),
      max_body_size: "400mb",
      packages: { "**": { access: "$all", publish: "$anonymous" } },
      log: { type: "stdout", format: "json", level: "error" },
    };
    writeFileSync(join(this.folder, "config.yaml"), JSON.stringify(config));
    await output(["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"], {
      cwd: this.folder,
      env: { PATH: process.env["PATH"], HOME: this.folder, npm_config_cache: cache },
    });
    this.#server = Bun.spawn(
      [join(this.bin, "verdaccio"), "--listen", this.url, "--config", "config.yaml"],
      { cwd: this.folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    );
    const deadline = Date.now() + installTimeoutMs;
    while (!(await fetch(this.url).catch(() => null))?.ok) {
      if (Date.now() > deadline) throw new Error("The registry did not start");
      await Bun.sleep(100);
    }
  }

  /** The environment of somebody who has nothing but a package manager that uses this registry. */
  environment(home: string, path: string): Record<string, string> {
    return {
      PATH: path,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      npm_config_userconfig: join(this.folder, "published.npmrc"),
      npm_config_registry: this.url,
    };
  }

  /** Runs npm as a maintainer does. */
  async npm(...args: readonly string[]): Promise<void> {
    const env = this.environment(this.folder, process.env["PATH"] ?? "");
    await output(["npm", ...args], { cwd: this.folder, env });
  }

  async stop(): Promise<void> {
    this.#server?.kill();
    await this.#server?.exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The ways to get the demo, each as a shell command. */
const ways: readonly (readonly [name: string, command: string])[] = [
  ["npx, Node 20", `npx --yes skyhook@${version} demo`],
  ["npx, Node 22", `npx --yes skyhook@${version} demo`],
  [
    "npm install --global",
    `npm install --global --prefix . skyhook@${version} && bin/skyhook demo`,
  ],
  ["bunx", `bunx skyhook@${version} demo`],
  ["bunx --bun", `bunx --bun skyhook@${version} demo`],
  ["pnpm dlx", `pnpm dlx skyhook@${version} demo`],
];

/** Runs one of the ways. Returns the milliseconds until the console shows that it is signed in. */
async function signIn(registry: Registry, name: string, command: string): Promise<number> {
  const home = join(registry.folder, name.replaceAll(/\W+/g, "-"));
  mkdirSync(home);
  const system = process.env["PATH"] ?? "";
  const path =
    name.includes("Node 22") || name === "pnpm dlx" ? `${registry.bin}:${system}` : system;
  const env = {
    ...registry.environment(home, `${dirname(process.execPath)}:${path}`),
    PORT: String(freePort()),
  };
  const startedAt = performance.now();
  const child = Bun.spawn(["setsid", "sh", "-c", command], {
    cwd: home,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const killing = setTimeout(() => process.kill(-child.pid, "SIGKILL"), 2 * limitMs);
  const errors = child.stderr.text();
  let out = "";
  try {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      out += text;
      const link = /http\S+#code=\S+/.exec(out)?.[0];
      if (link === undefined) continue;
      const browser = openBrowser();
      await browser.open(link);
      await browser.shows("nav", "Events");
      await browser.close();
      return performance.now() - startedAt;
    }
    throw new Error(`${name}: ${out}${await errors}`);
  } finally {
    clearTimeout(killing);
    process.kill(-child.pid, "SIGTERM");
    await child.exited;
  }
}

/** Starts the program where it is not installed. Throws unless the command says why. */
async function explains(registry: Registry, name: string, command: string, text: string) {
  const home = join(registry.folder, name);
  mkdirSync(home);
  const env = registry.environment(home, process.env["PATH"] ?? "");
  await rejected(output(["sh", "-c", command], { cwd: home, env }), text);
}

/**
 * Publishes the tarballs, in their order, on a registry of this machine, and times each way to a console that is signed
 * in. Throws if a way fails or takes longer than a minute. Needs npm, a registry with npm's tools, and Chromium.
 */
export async function rehearseNpm(tarballs: readonly string[]): Promise<string> {
  const registry = new Registry();
  const times: string[] = [];
  try {
    await registry.start();
    for (const tarball of tarballs) await registry.npm("publish", resolve(tarball));
    for (const [name, command] of ways) {
      const tookMs = await signIn(registry, name, command);
      if (tookMs > limitMs) throw new Error(`${name} took longer than ${limitMs / 1_000} s`);
      times.push(`${name} ${(tookMs / 1_000).toFixed(1)} s`);
    }
    const skipping = `npm install --omit=optional skyhook@${version} && npx skyhook version`;
    await explains(registry, "skipped", skipping, "Optional packages were skipped");
    const platform = `skyhook-${process.platform}-${process.arch}`;
    await registry.npm("unpublish", "--force", `${platform}@${version}`);
    const lacking = `npx --yes skyhook@${version} version`;
    await explains(registry, "lacking", lacking, `npm view ${platform}@${version}`);
    return times.join(", ");
  } finally {
    await registry.stop();
  }
}

if (import.meta.main) console.log(await rehearseNpm(process.argv.slice(2)));
