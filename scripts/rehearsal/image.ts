// Builds the image of deploy/Dockerfile with buildah, on a root that debootstrap makes, and runs it as a container engine
// would: its user, variables and commands, a read-only root, one folder for data.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { freePort } from "../../test/support/free-port.ts";
import { notInstalled, notRoot } from "../../test/support/skips.ts";
import { output } from "../command.ts";

import { lastLine, step } from "./steps.ts";

/** Why the image cannot be rehearsed on this machine; null when it can. */
export const noImages = notRoot ?? notInstalled("buildah", "debootstrap", "unshare", "chroot");

const cachedRoot = join(import.meta.dir, "../../node_modules/.cache/debian-12.tar");
const secret = "a-secret-of-the-rehearsal";
const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

/** What a container engine reads of an image. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** A program for the image. */
export interface ImageProgram {
  readonly version: string;
  /** Relative to the root of the repository. */
  readonly file: string;
}

/**
 * Builds an image of each program in the `clone`, starts the first one, stores an event, and replaces it by the second
 * one with the same data. `releases` is where the first one's signed checksums are.
 */
export async function rehearseImage(
  clone: string,
  [first, second]: readonly [ImageProgram, ImageProgram],
  releases: string,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-image-"));
  const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  const buildah = (...args: readonly string[]) =>
    output(["buildah", "--storage-driver", "vfs", ...storage, ...args], { cwd: clone });
  const data = join(folder, "data");
  const settings = { ...(await madeSettings(clone, folder)), PORT: String(freePort()) };

  /** Makes a container of an image; the data is kept. */
  async function container({ version, file }: ImageProgram): Promise<Container> {
    const image = `skyhook:${version}`;
    const from = ["--build-arg", "BASE=localhost/base", "--build-arg", `PROGRAM=${file}`];
    const files = ["--ignorefile", "deploy/Dockerfile.dockerignore", "--file", "deploy/Dockerfile"];
    // The format of OCI has no health check.
    const how = ["--isolation", "chroot", "--format", "docker"];
    await buildah("build", ...how, ...from, ...files, "--tag", image, ".");
    const inspected: { readonly Docker: { readonly config: ImageConfig } } = JSON.parse(
      await buildah("inspect", "--type", "image", image),
    );
    const root = (await buildah("mount", (await buildah("from", image)).trim())).trim();
    // As a new volume gets the files and owner that the image has there.
    if (!existsSync(data)) await output(["cp", "-a", join(root, "var/lib/skyhook"), data]);
    return new Container(inspected.Docker.config, root, data, settings);
  }

  try {
    await step("image: base root", () => base(buildah));
    const one = await step(`image: build skyhook:${first.version}`, () => container(first));
    await step("image: runs as user 10001 on a read-only root", () => one.expectClosed());
    await step("image: the program in it verifies itself", async () =>
      lastLine(await one.run(["skyhook", "version", "--verify", "--from", releases])),
    );
    await step("image: start, health check, one event, stop", async () => {
      await one.start();
      await one.send();
      await one.stop();
    });
    const two = await step(`image: build skyhook:${second.version}`, () => container(second));
    await step("image: upgrade with the same data", async () => {
      await two.start();
      const shown = lastLine(await two.run(["skyhook", "--version"]));
      if (!shown.startsWith(`${second.version} `)) throw new Error(`The version is ${shown}`);
      const events = await two.events();
      if (events !== 1) throw new Error(`${events} events instead of 1 after the upgrade`);
      await two.send();
      await two.stop();
      return `${shown}; its event is there`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function madeSettings(clone: string, folder: string): Promise<Record<string, string>> {
  await output(["sh", join(clone, "deploy/make-settings.sh"), folder]);
  const text = await Bun.file(join(folder, "skyhook.env")).text();
  const entries = [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
  return { ...Object.fromEntries(entries), CODE_HOST_WEBHOOK_SECRET: secret, HOST: "127.0.0.1" };
}

/** Imports a Debian without more than its required packages as the base of images. */
async function base(buildah: (...args: readonly string[]) => Promise<string>): Promise<void> {
  if (!existsSync(cachedRoot)) {
    const folder = mkdtempSync(join(tmpdir(), "skyhook-debian-"));
    try {
      await output(["debootstrap", "--variant=minbase", "bookworm", folder]);
      mkdirSync(dirname(cachedRoot), { recursive: true });
      const whole = join(folder, "root.tar");
      await output([
        "tar",
        "--exclude=./root.tar",
        "--exclude=./var/cache/apt",
        "-cf",
        whole,
        "-C",
        folder,
        ".",
      ]);
      cpSync(whole, cachedRoot);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const container = (await buildah("from", "scratch")).trim();
  await buildah("add", "--quiet", container, cachedRoot, "/");
  await buildah("commit", "--quiet", "--rm", container, "base");
}

/** Makes the root read-only, with the data, devices and processes in it, and becomes the user in it. */
const enter = `set -eu
root=$1 data=$2 user=$3; shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind "$data" "$root/var/lib/skyhook"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
exec chroot --userspec="$user:$user" "$root" "$@"`;

class Container {
  #server: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;

  constructor(
    private readonly config: ImageConfig,
    private readonly root: string,
    private readonly data: string,
    private readonly settings: Readonly<Record<string, string>>,
  ) {}

  #argv(command: readonly string[]): readonly string[] {
    const { config, root, data, settings } = this;
    const variables = [...config.Env, ...Object.entries(settings).map((pair) => pair.join("="))];
    const inside = ["env", "-i", ...variables, ...command];
    return ["unshare", "--mount", "sh", "-c", enter, "sh", root, data, config.User, ...inside];
  }

  /** Runs a command as `docker exec` does. */
  run(command: readonly string[]): Promise<string> {
    return output(this.#argv(command));
  }

  async expectClosed(): Promise<void> {
    const id = (await this.run(["id", "-u"])).trim();
    if (id !== "10001") throw new Error(`The user is ${id}`);
    for (const file of ["/etc/a", "/usr/local/bin/a", "/tmp/a"]) {
      const said = await this.run(["sh", "-c", `touch ${file} 2>&1 || true`]);
      if (!said.includes("Read-only file system")) throw new Error(`${file} can be written`);
    }
    await this.run(["sh", "-c", "touch /var/lib/skyhook/a && rm /var/lib/skyhook/a"]);
  }

  async isHealthy(): Promise<boolean> {
    const [, code = ""] = this.config.Healthcheck.Test;
    return this.run(["sh", "-c", code]).then(
      () => true,
      () => false,
    );
  }

  async start(): Promise<void> {
    if (await this.isHealthy()) throw new Error("The health check passes without a server");
    const { Entrypoint, Cmd } = this.config;
    const argv = this.#argv([...Entrypoint, ...Cmd]);
    const server = Bun.spawn([...argv], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    this.#server = server;
    const deadline = performance.now() + startTimeoutMs;
    while (!(await this.isHealthy())) {
      if (server.exitCode === null && performance.now() < deadline) continue;
      server.kill("SIGKILL");
      throw new Error(
        `The server did not start: ${await server.stdout.text()}${await server.stderr.text()}`,
      );
    }
  }

  async send(): Promise<void> {
    const said = await this.run([
      "skyhook",
      "send",
      "code_host",
      "package.published",
      "--secret",
      secret,
    ]);
    if (!said.startsWith("200")) throw new Error(`The webhook was answered with ${said}`);
  }

  async events(): Promise<number> {
    const lines = await this.run(["skyhook", "events", "--json"]);
    return lines.split("\n").filter((line) => line !== "").length;
  }

  /** Stops it as an engine does: SIGTERM, and no kill within the grace period. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) throw new Error("The container was not started");
    const killing = setTimeout(() => server.kill("SIGKILL"), stopTimeoutMs);
    server.kill("SIGTERM");
    const code = await server.exited;
    clearTimeout(killing);
    if (code !== 0) throw new Error(`The server ended with ${code}: ${await server.stderr.text()}`);
  }
}
