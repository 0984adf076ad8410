// It takes some seconds: what a running server loads, and what a first start logs, need three servers.
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { commandLine } from "../../support/cli.ts";
import { programName } from "../../support/program.ts";
import { onlyLinux, skips } from "../../support/skips.ts";
import { transcripts } from "../../support/transcript.ts";

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

  test("is no advice where the secret is an id at the service", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "providers"));
    for (const id of ["aws_sns", "paypal", "plaid"]) {
      writeFileSync(join(cwd, `providers/${id}.yaml`), catalogueFiles[id] ?? "");
      const { err } = await skyhook(["send", id, "any"], { cwd });
      expect(err).toContain(`secrets set ${id}`);
      const { out } = await skyhook(["doctor"], { cwd });
      const line = out.split("\n").find((each) => each.includes(id) && each.includes("no secret"));
      expect(line).toBeString();
      expect(line).not.toContain("secrets init");
    }
  });

  test("reaches the running server, and doctor names a secret that has not", async () => {
    const cwd = newFolder();
    const server = await serve({ cwd, env: { WEBHOOK_PROVIDERS: "code_host,task_tracker" } });
    await server.printed(`open ${server.url}/console and sign in with`);
    const run = (...args: string[]) => skyhook(args, server);
    const made = await run("secrets", "init");
    expect(made.out).toContain("The running server (process ");
    expect(made.out).toContain("has loaded its secrets again.");
    const sent = await run("send", "code_host", "package.published");
    expect(sent.out).toStartWith("200 accepted");
    const set = await skyhook(["secrets", "set", "task_tracker", "--keep", "current"], {
      ...server,
      input: "another-secret-of-it",
    });
    expect(set.out).toContain("has loaded its secrets again.");
    expect((await run("doctor")).out).not.toContain("has not loaded");
    // All or nothing: an empty secret of another provider prevents it.
    writeFileSync(join(cwd, "secrets/code_host_webhook_secret"), "\n");
    const next = { ...server, input: "yet-another-secret-of-it" };
    const kept = await skyhook(["secrets", "set", "task_tracker", "--keep", "current"], next);
    expect(kept.out).toContain("has not loaded its secrets again: see its log.");
    writeFileSync(join(cwd, "secrets/code_host_webhook_secret"), "a-secret-written-by-hand");
    expect((await run("secrets", "init")).out).toContain("has loaded its secrets again.");
    await server.stop();

    const later = await serve({ cwd, env: { WEBHOOK_PROVIDERS: "deploy_platform" } });
    writeFileSync(join(cwd, "secrets/deploy_platform_webhook_secret"), "stored-beside-the-server");
    const examined = await skyhook(["doctor"], later);
    expect(examined.out).toContain("has a secret that the running server has not loaded");
    expect(examined.code).toBe(1);
    await later.stop();
    expect((await skyhook(["secrets", "init"], server)).out).not.toContain("running server");
  });

  test("a secret that the server's environment overrides is stored, but not reported as used", async () => {
    const own = { WEBHOOK_PROVIDERS: "code_host,task_tracker" };
    const variable = "CODE_HOST_WEBHOOK_SECRET";
    const server = await serve({ env: { ...own, [variable]: "the-secret-in-the-environment" } });
    await server.printed("skyhook serves on");
    // The shell of the command does not have the variable, as with systemd and containers.
    const { [variable]: _, ...env } = server.env;
    const set = (id: string) =>
      skyhook(["secrets", "set", id], { cwd: server.cwd, env, input: `new-secret-of-${id}` });
    const { code, err } = await set("code_host");
    expect(code).toBe(1);
    expect(err).toContain(`Stored, but not used: unset ${variable}.`);
    expect(err).toContain("code_host_webhook_secret_previous, so that it stays accepted");
    expect((await set("task_tracker")).out).toContain("has loaded its secrets again.");
    await server.stop();
  });
});

describe("a first start", () => {
  test("warns of nothing, names the command that makes secrets, and links to localhost", async () => {
    const env = { WEBHOOK_PROVIDERS: "task_tracker,code_host", HOST: "0.0.0.0" };
    const server = await serve({ env });
    const link = await skyhook(["console"], server);
    // Not to all interfaces, on which it listens.
    const page = `http://localhost:${server.env.PORT}/console`;
    expect(link.out).toStartWith(`${page}#code=`);
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
    expect(messages).toContain(`open ${page} and sign in with \`${programName} console\``);
  });
});

const all = "task_tracker,shared_inbox,deploy_platform,code_host,payment_processor";
transcripts(import.meta.dir, "secrets.txt", () => ({
  cwd: newFolder(),
  names: { ALL: all },
  never: /-secret-of-/,
}));

describe("skyhook secrets set", () => {
  test.skipIf(skips(process.platform === "linux" ? null : onlyLinux))(
    "says where to write a secret if the folder is read-only",
    async () => {
      // Nobody can create files there, not even root.
      const env = { SECRETS_DIR: "/sys/kernel" };
      const set = ["secrets", "set", "code_host"];
      const { err, code } = await skyhook(set, { env, input: "a-secret-of-the-service" });
      expect(err).toStartWith("skyhook: SECRETS_DIR is read-only here (E");
      expect(code).toBe(2);
    },
  );

  test("stores nothing if the input is empty or too long, or the id invalid", async () => {
    const cwd = newFolder();
    await skyhook(["provider", "add", "slack"], { cwd });
    const empty = await skyhook(["secrets", "set", "slack"], { cwd, input: " \n" });
    const long = await skyhook(["secrets", "set", "slack"], { cwd, input: "x".repeat(20_000) });
    const invalid = await skyhook(["secrets", "set", "../slack"], { cwd, input: "a secret" });
    expect([empty.code, long.code, invalid.code]).toEqual([2, 2, 2]);
    expect(empty.err).toContain("The secret is empty");
    expect(existsSync(join(cwd, "secrets"))).toBe(false);
  });
});
