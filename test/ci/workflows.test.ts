import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const folder = join(root, ".github/workflows");

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: unknown;
  readonly environment?: string;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = readdirSync(folder);
const textOf = (file: string): string => readFileSync(join(folder, file), "utf8");
// Guarantee: a workflow that lacks one of these members fails the tests below.
const workflowOf = (file: string) => Bun.YAML.parse(textOf(file)) as Workflow;

describe.each(files)("%s", (file) => {
  const { permissions, jobs } = workflowOf(file);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test("names every action by a commit, with its version, and one commit for each", () => {
    const lines = textOf(file).match(/^.*\buses:.*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const pinned = files.flatMap(
      (each) => textOf(each).match(/[\w-]+\/[\w-]+@[0-9a-f]{40} # v\S+/g) ?? [],
    );
    const actions = Map.groupBy(new Set(pinned), (pin) => pin.split("@")[0]);
    for (const pins of actions.values()) expect(pins).toHaveLength(1);
  });

  test("reads the repository, keeps no credentials and has a time-out", () => {
    expect(permissions).toEqual({ contents: "read" });
    for (const { "timeout-minutes": minutes } of Object.values(jobs)) expect(minutes).toBeDefined();
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    for (const checkout of checkouts) {
      expect(checkout.with).toMatchObject({ "persist-credentials": false });
    }
  });

  test("puts no text of an event into a command, and runs files that exist", () => {
    const commands = steps
      .map(({ run = "" }) => run)
      .filter((run) => !run.startsWith("${{ matrix.run }}"));
    for (const run of commands) {
      expect(run).not.toContain("${{");
      for (const [, script = ""] of run.matchAll(/\bbun (scripts\/\S+)/g)) {
        expect(existsSync(join(root, script)), script).toBe(true);
      }
    }
  });
});

describe("release.yml", () => {
  const { jobs } = workflowOf("release.yml");

  test("gives each job only what it needs", () => {
    const given = Object.entries(jobs).map(([name, job]) => [name, job.permissions ?? null]);
    expect(Object.fromEntries(given)).toEqual({
      build: null,
      sign: null,
      attest: { "id-token": "write", attestations: "write" },
      github: { contents: "write" },
      npm: { "id-token": "write" },
      image: { contents: "read", packages: "write" },
    });
  });

  test("has the secret key only where no package runs", () => {
    const withSecrets = Object.entries(jobs).filter(([, job]) =>
      JSON.stringify(job).includes("secrets."),
    );
    expect(withSecrets.map(([name]) => name)).toEqual(["sign"]);
    expect(jobs["sign"]?.environment).toBe("release");
    const commands = jobs["sign"]?.steps.map(({ run = "" }) => run).join("\n");
    expect(commands).not.toContain("bun install");
    const imports = /^import .* from "(?!node:|\.)/m;
    for (const script of ["sign", "command", "release-key"]) {
      expect(readFileSync(join(root, `scripts/${script}.ts`), "utf8")).not.toMatch(imports);
    }
  });
});
