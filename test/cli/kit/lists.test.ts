import { describe, expect, test } from "bun:test";

import { commandLine } from "../../support/cli.ts";

const { skyhook, newFolder } = commandLine();

describe("--json", () => {
  test.each([
    ["provider list", { provider: "task_tracker", service: "Todoist" }],
    ["provider list --catalogue", { name: expect.any(String), signature: expect.any(String) }],
    ["doctor", { level: "good", about: "configuration", detail: "valid" }],
  ])("of %s prints one object per line", async (command, first) => {
    const { out } = await skyhook([...command.split(" "), "--json"]);
    const lines = out.trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject(first);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  test("of client list prints no hash of a secret", async () => {
    const cwd = newFolder();
    await skyhook(["client", "add", "--name", "ci"], { cwd });
    const { out } = await skyhook(["client", "list", "--json"], { cwd });
    expect(Object.keys(Object(JSON.parse(out)))).toEqual(["id", "name", "roles", "createdAt"]);
  });

  test.each(["destination", "sessions", "events", "rejections", "reconcile", "tail"])(
    "is an option of %s",
    async (command) => {
      const { out } = await skyhook([...command.split(" "), "--help"]);
      expect(out).toMatch(/--json +one JSON object per line/);
    },
  );
});
