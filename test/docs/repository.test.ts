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

  test("names each action by its commit, which cannot be moved", () => {
    const actions = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40}$/);
  });
});

test.each([".devcontainer/devcontainer.json", "AGENTS.md", "CONTRIBUTING.md"])(
  "%s installs the version of Bun in package.json",
  (path) => {
    expect(text(path)).toContain(
      `npm install --global ${packageJson.packageManager} && bun install`,
    );
  },
);
