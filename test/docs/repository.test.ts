import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import packageJson from "../../package.json";

const root = join(import.meta.dir, "../..");
const text = (path: string) => readFileSync(join(root, path), "utf8");

describe("the workflow of CI", () => {
  const workflow = text(".github/workflows/ci.yml");

  test("runs .ci/run, and may only read", () => {
    expect(workflow).toContain("bash .ci/run");
    expect(workflow).toMatch(/^permissions:\n  contents: read\n\n/m);
  });

  test("searches every night", () => {
    expect(workflow).toMatch(/^  schedule:\n    - cron: "\d+ \d+ \* \* \*"$/m);
    expect(workflow).toContain("event_name == 'schedule' && fromJSON('[\"bun run nightly\"]')");
    expect(packageJson.scripts).toHaveProperty("nightly");
  });

  test("names each action by its commit, which cannot be moved", () => {
    const actions = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40}$/);
  });
});

test("the container for development has what tests need", () => {
  const packagesOf = (command = "") => command.split(" ").filter((word) => /^[a-z]/.test(word));
  const [, tools] = /^for tool in (.*); do$/m.exec(text(".ci/run")) ?? [];
  const [, inWorkflow] = /apt-get install (.*)$/m.exec(text(".github/workflows/ci.yml")) ?? [];
  const { onCreateCommand } = JSON.parse(text(".devcontainer/devcontainer.json"));
  const [, installed] = onCreateCommand.split("apt-get install ");
  const needed = [
    // Of `command:package`, the package.
    ...packagesOf(tools).map((tool) => tool.replace(/^.*:/, "")),
    ...packagesOf(inWorkflow),
  ];
  expect(needed).toContain("haproxy");
  expect(packagesOf(installed)).toEqual(expect.arrayContaining(needed));
});

test("dependencies and actions are updated, once a version is a week old", () => {
  const { updates } = Object(Bun.YAML.parse(text(".github/dependabot.yml")));
  expect(updates).toMatchObject([
    { "package-ecosystem": "bun", directory: "/" },
    { "package-ecosystem": "github-actions", directory: "/" },
  ]);
  for (const { cooldown } of updates) expect(cooldown).toEqual({ "default-days": 7 });
});

test("the issue forms lead to the private report of a vulnerability", () => {
  const { contact_links } = Object(Bun.YAML.parse(text(".github/ISSUE_TEMPLATE/config.yml")));
  expect(contact_links).toMatchObject([
    { url: expect.stringMatching(/^https:/), about: expect.stringContaining("SECURITY.md") },
  ]);
});

test.each([".devcontainer/devcontainer.json", "AGENTS.md", "CONTRIBUTING.md"])(
  "%s installs the version of Bun in package.json",
  (path) => {
    expect(text(path)).toContain(
      `npm install --global ${packageJson.packageManager} && bun install`,
    );
  },
);
