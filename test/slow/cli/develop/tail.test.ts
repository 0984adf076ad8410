import { describe, expect, test } from "bun:test";

import { textAt } from "../../../../src/base/payload.ts";
import { besideServer } from "../../../support/cli.ts";
import type { RunningCommand } from "../../../support/listener.ts";
import { spawnSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

const { beside, running, skyhook } = besideServer();

const taken = resources();

async function tail(...args: string[]): Promise<RunningCommand> {
  const command = taken.running(["tail", ...args], running());
  await command.shows("following http://127.0.0.1");
  return command;
}

describe("skyhook tail", () => {
  test("prints a line for each event, and ends with 0 when stopped", async () => {
    const command = await tail();
    await beside("send", "task_tracker", "task.completed");
    await command.shows(
      /\d\d:\d\d:\d\d success task_tracker task\.completed: \S.* evt_[0-9a-f]+\n/,
    );
    expect(await command.end("SIGINT")).toBe(0);
  });

  test("prints only events of a provider, of types and of a severity", async () => {
    const commands = [
      await tail("--provider", "code_host"),
      await tail("--type", "deploy.*"),
      await tail("--severity", "error"),
    ];
    await beside("send", "task_tracker", "task.created");
    await beside("send", "deploy_platform", "deploy.error");
    await beside("send", "code_host", "package.published");
    const [ofProvider, ofTypes, ofSeverity] = commands;
    await ofProvider?.shows("package.published");
    await ofTypes?.shows("deploy.error");
    await ofSeverity?.shows("deploy.error");
    for (const command of commands) expect(command.out().trim().split("\n")).toHaveLength(1);
  });

  test("prints only events with words, a status, a subject and a key", async () => {
    const commands = [
      await tail("--q", "publish*"),
      await tail("--subject", "deployment/none", "--from", "1h"),
      await tail("--status", "accepted", "--q", '"1.4.0"'),
    ];
    await beside("send", "task_tracker", "task.created");
    await beside("send", "code_host", "package.published");
    const [byWord, none, byPhrase] = commands;
    await byWord?.shows("package.published");
    await byPhrase?.shows("package.published");
    for (const command of [byWord, byPhrase]) {
      expect(command?.out().trim().split("\n")).toHaveLength(1);
    }
    expect(none?.out()).toBe("");
    const listed = await beside("events", "--json", "--type", "package.published", "--limit", "1");
    const key = textAt(JSON.parse(listed.out), "idempotencyKey") ?? "";
    const byKey = await tail("--idempotency-key", key, "--from", "1h", "--json");
    await byKey.shows(key);
  });

  test("prints earlier events with --from, as JSON with --json", async () => {
    await beside("send", "task_tracker", "task.created");
    const command = await tail("--from", "1h", "--json", "--type", "task.created");
    await command.shows('"task.created"');
    const event: unknown = JSON.parse(command.out().split("\n")[0] ?? "");
    expect(textAt(event, "type")).toBe("task.created");
    expect(textAt(event, "id")).toStartWith("evt_");
    const instant = await tail("--from", "2020-01-01T00:00:00Z", "--type", "task.created");
    await instant.shows("task.created");
  });

  test("ends when its reader has gone, as in a pipe to head", async () => {
    await beside("send", "task_tracker", "task.completed");
    const process = spawnSkyhook(["tail", "--from", "1h"], running());
    taken.ends.push(() => process.kill("SIGKILL"));
    const reader = process.stdout.getReader();
    await reader.read();
    await reader.cancel();
    // The first line after it may still fit into the pipe.
    for (let line = 0; line < 2; line += 1) await beside("send", "task_tracker", "task.created");
    expect(await process.exited).toBe(0);
  });

  test("explains errors", async () => {
    const [severity, token] = await Promise.all([
      skyhook(["tail", "--severity", "fatal"], running()),
      skyhook(["tail"], { ...running(), env: { ...running().env, OPERATOR_TOKEN: "no" } }),
    ]);
    expect([severity.code, token.code]).toEqual([2, 1]);
    expect(token.err).toContain("The server answers 401");
    const words = await skyhook(["tail", "--q", "?"], running());
    expect(words.code).toBe(1);
    expect(words.err).toContain("q: Must contain a letter or a digit");
  });
});
