import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { notInstalled, skips } from "../support/skips.ts";

const folder = join(import.meta.dir, "../../deploy");
const read = (file: string) => Object(Bun.YAML.parse(readFileSync(join(folder, file), "utf8")));

interface Tests {
  readonly alert_rule_test: readonly { alertname: string; exp_alerts?: readonly object[] }[];
}

describe("deploy/prometheus-rules.yaml", () => {
  test("has a case that fires and one that does not for each alert", () => {
    const rules: readonly { alert: string }[] = read("prometheus-rules.yaml").groups[0].rules;
    const tests: readonly Tests[] = read("prometheus-rules.test.yaml").tests;
    const cases = tests.flatMap(({ alert_rule_test: own }) => own);
    const tested = (fires: boolean) =>
      cases.filter(({ exp_alerts }) => (exp_alerts !== undefined) === fires);
    for (const kind of [tested(true), tested(false)]) {
      const names = new Set(kind.map(({ alertname }) => alertname));
      expect(names).toEqual(new Set(rules.map(({ alert }) => alert)));
    }
  });

  test.skipIf(skips(notInstalled("promtool"))).each([
    ["check", "prometheus-rules.yaml"],
    ["test", "prometheus-rules.test.yaml"],
  ])("passes `promtool %s rules`", (does, file) => {
    const child = Bun.spawnSync(["promtool", does, "rules", file], { cwd: folder });
    expect(child.exitCode, child.stdout.toString() + child.stderr.toString()).toBe(0);
  });
});
