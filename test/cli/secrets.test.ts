import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { commandLine } from "../support/cli.ts";
import { programName } from "../support/program.ts";

const { skyhook, serve, newFolder } = commandLine();

describe("skyhook secrets init", () => {
  test("makes a private file for each registered provider that has no secret", async () => {
    const cwd = newFolder();
    const file = (id: string) => join(cwd, `secrets/${id}_webhook_secret`);
    mkdirSync(join(cwd, "secrets"), { mode: 0o700 });
    writeFileSync(file("shared_inbox"), "the secret of the real inbox\n");
    const env = {
      WEBHOOK_PROVIDERS: "task_tracker,shared_inbox,code_host,payment_processor",
      CODE_HOST_WEBHOOK_SECRET: "set in the environment",
    };
    const { out, err, code } = await skyhook(["secrets", "init"], { cwd, env });
    expect([err, code]).toEqual(["", 0]);
    expect(out.split("\n").slice(0, 4)).toEqual([
      "made  secrets/task_tracker_webhook_secret",
      "kept  secrets/shared_inbox_webhook_secret",
      "kept  CODE_HOST_WEBHOOK_SECRET",
      "made  secrets/payment_processor_webhook_secret",
    ]);
    expect(readFileSync(file("task_tracker"), "utf8")).toMatch(/^[0-9a-f]{64}\n?$/);
    expect(readFileSync(file("payment_processor"), "utf8")).toMatch(/^whsec_[0-9a-f]{64}\n?$/);
    expect(statSync(file("task_tracker")).mode & 0o777).toBe(0o600);
    expect(readFileSync(file("shared_inbox"), "utf8")).toBe("the secret of the real inbox\n");
    expect(existsSync(file("code_host"))).toBe(false);
    expect(out).not.toContain(readFileSync(file("task_tracker"), "utf8").trim());

    const before = readFileSync(file("task_tracker"), "utf8");
    const again = await skyhook(["secrets", "init"], { cwd, env });
    expect(again.out).not.toContain("made");
    expect(readFileSync(file("task_tracker"), "utf8")).toBe(before);
  });

  test("makes nothing when one of the files is empty", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "secrets"));
    writeFileSync(join(cwd, "secrets/code_host_webhook_secret"), "\n");
    const { out, err, code } = await skyhook(["secrets", "init"], { cwd });
    expect([out, code]).toEqual(["", 2]);
    expect(err).toContain("code_host_webhook_secret is empty");
    expect(existsSync(join(cwd, "secrets/task_tracker_webhook_secret"))).toBe(false);
  });
});

describe("a first start", () => {
  test("warns of nothing, and names the command that makes the missing secrets", async () => {
    const server = await serve({ env: { WEBHOOK_PROVIDERS: "task_tracker,code_host" } });
    await server.stop();
    const lines = server.log().trim().split("\n");
    const entries = lines.map((line): Record<string, unknown> => JSON.parse(line));
    expect(entries.map((entry) => entry["level"])).toEqual(entries.map(() => 30));
    const messages = entries.map((entry) => String(entry["msg"]));
    for (const id of ["task_tracker", "code_host"]) {
      const [line = "", ...others] = messages.filter((message) => message.startsWith(id));
      expect(line).toContain(`\`${programName} secrets init\``);
      expect(others).toEqual([]);
    }
    expect(messages).toContain(
      `open ${server.url}/console and sign in with \`${programName} console\``,
    );
  });

  test("links to localhost when it listens on all interfaces", async () => {
    const cwd = newFolder();
    const server = await serve({ cwd, env: { HOST: "0.0.0.0" } });
    await server.stop();
    expect(server.log()).toContain(`open http://localhost:${server.env.PORT}/console and`);
  });
});
