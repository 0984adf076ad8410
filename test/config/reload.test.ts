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
import { openedBeside } from "../support/rows.ts";

/** Sends SIGHUP to a real process. Each test has providers of its own, and leaves files that are in use. */
describe("SIGHUP", () => {
  const cwd = temporaryFolder();
  const secretFile = (provider: string) => join(cwd, `${provider}_webhook_secret`);
  const first = "the first secret of the provider";
  const second = "the second secret of the provider";
  let server: RunningServer;

  beforeAll(async () => {
    for (const provider of ["code_host", "deploy_platform", "shared_inbox"])
      writeFileSync(secretFile(provider), first);
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
    await until(() => /SIGHUP: .*"}\n/.test(said()));
    return said();
  }

  test("accepts a new secret, and the previous one until its file is removed", async () => {
    const current = secretFile("code_host");
    const previous = `${current}_previous`;
    expect(await deliver("code_host", first)).toBe(200);
    expect(await deliver("code_host", second)).toBe(401);
    writeFileSync(previous, first);
    writeFileSync(current, second);
    expect(await deliver("code_host", second)).toBe(401);
    expect(await reload()).toContain("webhook secrets reloaded, changed: code_host");
    expect(await deliver("code_host", second)).toBe(200);
    expect(await deliver("code_host", first)).toBe(200);
    // Secret uses are written a few seconds after the delivery.
    const inUse =
      /rotation code_host +previous secret last used .*, current one last used .*: keep/;
    await until(async () => inUse.test((await runSkyhook(["doctor"], server)).out));
    rmSync(previous);
    expect(await reload()).toContain("changed: code_host");
    expect(await deliver("code_host", first)).toBe(401);
    expect(await deliver("code_host", second)).toBe(200);
  });

  test("accepts the first secret of a provider", async () => {
    expect(await deliver("task_tracker", first)).toBe(503);
    writeFileSync(secretFile("task_tracker"), first);
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

  test("keeps all previous secrets if one is empty or missing, and names it", async () => {
    const [broken, changed] = [secretFile("deploy_platform"), secretFile("shared_inbox")];
    writeFileSync(changed, second);
    writeFileSync(broken, "\n");
    const said = await reload();
    expect(said).toContain(`The secret file ${broken} is empty: set it, or remove it`);
    expect(said).toContain("keeping the previous webhook secrets");
    expect(said).toContain('"level":50');
    rmSync(broken);
    expect(await reload()).toContain("The secret of deploy_platform is no longer set. Restore it");
    expect(await deliver("deploy_platform", first)).toBe(200);
    expect(await deliver("shared_inbox", first)).toBe(200);
    expect(await deliver("shared_inbox", second)).toBe(401);
    for (const file of [broken, changed]) writeFileSync(file, first);
    expect(await reload()).toContain("none changed");
  });
});

test("SIGHUP during the start takes effect after it, and does not end the process", async () => {
  const folder = temporaryFolder();
  using other = openedBeside(join(folder, "skyhook.db"));
  other.run("begin exclusive");
  const child = spawnSkyhook(["serve"], {
    cwd: folder,
    env: { DATA_DIR: folder, PORT: "0", LOG_FORMAT: "json" },
  });
  try {
    // This file is created just before the start waits for the locked database.
    await until(() => existsSync(join(folder, "skyhook.lock.json")));
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
});
