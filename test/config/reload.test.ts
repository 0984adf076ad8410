import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { signed, until } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  spawnSkyhook,
  startServer,
  temporaryFolder,
} from "../support/program.ts";

/** Sends SIGHUP to a real process. The tests are the steps of one rotation, in order. */
describe("SIGHUP", () => {
  const cwd = temporaryFolder();
  const file = (name: string) => join(cwd, name);
  const current = file("code_host_webhook_secret");
  const previous = file("code_host_webhook_secret_previous");
  const first = "the first secret of the code host";
  const second = "the second secret of the code host";
  let server: RunningServer;

  beforeAll(async () => {
    writeFileSync(current, first);
    server = await startServer({ cwd, env: { SECRETS_DIR: cwd } });
  });
  afterAll(async () => {
    await server.kill();
    removeFolder(cwd);
  });

  let deliveries = 0;
  async function deliver(provider: string, secret: string): Promise<number> {
    const body = JSON.stringify({ n: ++deliveries });
    const request = signed(provider, body, manualClock(Date.now()), { secret });
    return (await fetch(`${server.url}/webhooks/${provider}`, request)).status;
  }

  /** Sends the signal and returns what the server then logs. */
  async function reload(): Promise<string> {
    const before = server.log().length;
    process.kill(server.pid, "SIGHUP");
    const said = () => server.log().slice(before);
    await until(() => /SIGHUP: .*"}\n/.test(said()), 20_000);
    return said();
  }

  test("accepts a new secret, and the previous one beside it", async () => {
    expect(await deliver("code_host", first)).toBe(200);
    expect(await deliver("code_host", second)).toBe(401);
    writeFileSync(previous, first);
    writeFileSync(current, second);
    expect(await deliver("code_host", second)).toBe(401);
    expect(await reload()).toContain("webhook secrets reloaded, changed: code_host");
    expect(await deliver("code_host", second)).toBe(200);
    expect(await deliver("code_host", first)).toBe(200);
  });

  test("accepts the first secret of a provider", async () => {
    expect(await deliver("task_tracker", first)).toBe(503);
    writeFileSync(file("task_tracker_webhook_secret"), first);
    expect(await reload()).toContain("changed: task_tracker");
    expect(await deliver("task_tracker", first)).toBe(200);
  });

  test("logs that nothing has changed", async () => {
    expect(await reload()).toContain("webhook secrets reloaded, none changed");
  });

  test("registers the provider of a new file, and keeps all if a file is invalid", async () => {
    const providers = join(cwd, "providers");
    const slack = join(providers, "slack.yaml");
    mkdirSync(providers);
    const known = async () => (await fetch(`${server.url}/`)).text();
    copyFileSync(join(import.meta.dir, "../../docs/examples/slack.yaml"), slack);
    expect(await reload()).toContain("changed: slack");
    expect(await known()).toContain('"slack"');
    writeFileSync(join(providers, "zoom.yaml"), "displayName: [");
    expect(await reload()).toMatch(/providers\/zoom\.yaml:\d+: .*; keeping the previous/);
    expect(await known()).toContain('"slack"');
    rmSync(providers, { recursive: true });
    expect(await reload()).toContain("changed: slack");
    expect(await known()).not.toContain('"slack"');
  });

  test("keeps all previous secrets if one is empty, and names it", async () => {
    writeFileSync(current, "\n");
    writeFileSync(file("task_tracker_webhook_secret"), second);
    const said = await reload();
    expect(said).toContain(`The secret file ${current} is empty: set it, or remove it`);
    expect(said).toContain("keeping the previous webhook secrets");
    expect(said).toContain('"level":50');
    expect(await deliver("code_host", second)).toBe(200);
    expect(await deliver("task_tracker", first)).toBe(200);
    expect(await deliver("task_tracker", second)).toBe(401);
  });

  test("keeps all previous secrets if one is missing", async () => {
    rmSync(current);
    expect(await reload()).toContain("The secret of code_host is no longer set. Restore it");
    expect(await deliver("code_host", second)).toBe(200);
    writeFileSync(current, second);
  });

  test("rejects the previous secret once its file is removed", async () => {
    // Secret uses are written a few seconds after the delivery.
    const inUse =
      /rotation code_host +previous secret last used .*, current one last used .*: keep/;
    await until(async () => inUse.test((await runSkyhook(["doctor"], server)).out), 20_000);
    rmSync(previous);
    expect(await reload()).toContain("changed: task_tracker, code_host");
    expect(await deliver("code_host", first)).toBe(401);
    expect(await deliver("code_host", second)).toBe(200);
  });
});

test("SIGHUP during the start takes effect after it, and does not end the process", async () => {
  const folder = temporaryFolder();
  using other = new Database(join(folder, "skyhook.db"));
  other.run("pragma busy_timeout = 10000");
  other.run("begin exclusive");
  const child = spawnSkyhook(["serve"], {
    cwd: folder,
    env: { DATA_DIR: folder, PORT: "0", LOG_FORMAT: "json" },
  });
  try {
    // This file is created just before the start waits for the locked database.
    await until(() => existsSync(join(folder, "skyhook.lock.json")), 20_000);
    child.kill("SIGHUP");
    other.run("rollback");
    let log = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      log += text;
      if (log.includes("SIGHUP: webhook secrets reloaded")) break;
    }
    expect(log).toContain("skyhook serves on");
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    removeFolder(folder);
  }
}, 30_000);
