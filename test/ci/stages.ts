import { readFileSync } from "node:fs";
import { join } from "node:path";

import { partlySlowFiles, wholeSlowFiles } from "../slow/binary/files.ts";

import {
  changedSince,
  defaultFiles,
  headCommit,
  longFiles,
  root,
  sampleOf,
  seedOf,
  shortSlowFiles,
} from "./sample.ts";

/** A command of a stage. */
export interface Command {
  readonly argv: readonly string[];
  /** Whether "bun test" counts what it ran. What counts nothing passes or fails as one. */
  readonly isTest: boolean;
}

/** A part of the run that can run alone. */
export interface Stage {
  readonly name: string;
  readonly about: string;
  readonly commands: () => readonly Command[];
}

const script = (...argv: readonly string[]): Command => ({
  argv: ["bun", "run", ...argv],
  isTest: argv[0]?.startsWith("test") === true,
});

const commit = headCommit();
const since = process.env["CHANGED_SINCE"] || "HEAD^";
const seed = String(seedOf(commit));
const changed = changedSince(since);
const sampled = (stage: string, files: readonly string[]) =>
  sampleOf(files, stage, commit, changed);

/** What the compiled program has in it: always tested. */
const embedded = "test/slow/embedded.test.ts";
const onBinary = [
  embedded,
  ...sampled("binary", [
    ...defaultFiles.filter((file) => file.startsWith("test/cli/")),
    ...wholeSlowFiles.filter((file) => file !== embedded),
    ...partlySlowFiles,
  ]),
];
/** Where the compiled program passes them, the source need not run them. */
const notOnBinary = (file: string) => !onBinary.includes(file) || !wholeSlowFiles.includes(file);

/** Slow tests that name no database. */
const onPostgresToo = ["clock", "gateway"].map((name) => `test/slow/faults/${name}.test.ts`);

export const stages: readonly Stage[] = [
  {
    name: "checks",
    about: "format, lint, types, packages",
    commands: () => ["format", "lint", "types", "audit"].map((check) => script(`check:${check}`)),
  },
  {
    name: "default",
    about: "the README's test command, in a terminal, in random order",
    commands: () => [{ argv: inTerminal(readmeCommand()), isTest: true }],
  },
  {
    name: "binary",
    about: "a sixth of the black-box tests on the compiled program, which is built in two folders",
    commands: () => [script("test:binary", ...onBinary)],
  },
  {
    name: "slow",
    about: "the short slow tests, and a sixth of the long ones",
    commands: () => [
      script(
        "test:slow",
        ...[...shortSlowFiles, ...sampled("slow", longFiles)].filter(notOnBinary),
      ),
    ],
  },
  {
    name: "depth",
    about: "a sixth of the default tests in one process, with all cases of their properties",
    commands: () => [script("test:depth", `--seed=${seed}`, ...sampled("depth", defaultFiles))],
  },
  {
    name: "postgres",
    about: "a sixth of the default tests on PostgreSQL",
    commands: () => [
      script("test:postgres", ...sampled("postgres", [...defaultFiles, ...onPostgresToo])),
    ],
  },
  {
    name: "searches",
    about: "a sample of attacks and mutants, and the mutants of what changed",
    commands: () => [
      script("fuzz", "--attacks", "--sample", "12", "--seed", seed),
      script("mutants", "--since", since, "--sample", "12", "--seed", seed),
    ],
  },
];

/** The line in the fenced block that follows the marker, exactly as a reader would paste it. */
function readmeCommand(): string {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, command] = /<!-- command: test -->\n```sh\n(.+)\n```/.exec(readme) ?? [];
  if (command === undefined) throw new Error("README.md has no test command");
  return command;
}

/** What a terminal changes is tested too. */
const inTerminal = (command: string): readonly string[] =>
  Bun.which("script") === null
    ? ["bash", "-c", command]
    : ["script", "--quiet", "--return", "--command", command, "/dev/null"];
