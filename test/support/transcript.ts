import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ended, programName, runSkyhook } from "./program.ts";
import { type Ended } from "./run-here.ts";

/** Values of the names that a transcript uses, such as `$SERVER`. */
type Names = Record<string, string>;

interface Step {
  readonly command: string;
  /** What it prints: `2>` marks lines of standard error, `[1]` an exit code. */
  readonly printed: string;
}

interface Transcript {
  readonly title: string;
  readonly steps: readonly Step[];
}

/** Where the commands of a transcript run. */
export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly names?: Names;
  /** What the program must never print. */
  readonly never?: RegExp;
}

/**
 * Makes a test of each transcript in a file. `# ` begins one with its title, `$ ` a command, which `> ` continues, and
 * what follows is what the command must print, but for empty lines. `…` stands for any text, and alone on a line for
 * any lines. `$NAME` stands for a value of `place`; in what a command prints, a new one stands for a word, and has its
 * value from then on.
 */
export function transcripts(
  folder: string,
  file: string,
  place: () => Place | Promise<Place>,
): void {
  const all = transcriptsOf(readFileSync(join(folder, file), "utf8"));
  test.each(all.map(({ title, steps }) => [title, steps] as const))("%s", async (_, steps) => {
    const { cwd, env = {}, names: given = {}, never } = await place();
    const names: Names = { PROGRAM: programName, ...given };
    for (const { command, printed } of steps) {
      const result = await run(valued(command, names), { cwd, env });
      if (command.includes("skyhook ") && never !== undefined)
        expect(shown(result)).not.toMatch(never);
      const found = pattern(valued(printed, names)).exec(shown(result));
      // Shows the difference.
      if (found === null) expect(`$ ${command}\n${shown(result)}`).toBe(`$ ${command}\n${printed}`);
      Object.assign(names, found?.groups);
    }
  });
}

function transcriptsOf(text: string): readonly Transcript[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map((part) => {
      const [title = "", ...steps] = part.split(/^\$ /m);
      return { title: title.trim(), steps: steps.map(stepOf) };
    });
}

function stepOf(text: string): Step {
  const [first = "", ...lines] = text.trimEnd().split("\n");
  const end = lines.findIndex((line) => !line.startsWith("> "));
  const [more, printed] = end < 0 ? [lines, []] : [lines.slice(0, end), lines.slice(end)];
  const isAll = end < 0 && lines.every((line) => line.startsWith("> "));
  return {
    command: [first, ...more.map((line) => line.slice(2))].join("\n"),
    printed: isAll ? "" : printed.map((line) => (line === "" ? "" : `${line}\n`)).join(""),
  };
}

const valued = (text: string, names: Names): string =>
  text.replaceAll(/\$([A-Z]+)\b/g, (all, name: string) => names[name] ?? all);

const shown = ({ out, err, code }: Ended): string =>
  [
    ...out.split("\n").map((line) => `${line}\n`),
    ...err.split("\n").map((line) => (line === "" ? "\n" : `2> ${line}\n`)),
    code === 0 ? "" : `[${code}]\n`,
  ]
    .join("")
    .replaceAll(/^\n/gm, "");

function pattern(printed: string): RegExp {
  const escaped = printed.replaceAll(/[.*+?^{}()|[\]\\]/g, String.raw`\$&`);
  const named = escaped.replaceAll(/\$([A-Z]+)\b/g, String.raw`(?<$1>[\w.-]+)`);
  const lines = named.replaceAll(/^…\n/gm, String.raw`(?:.*\n)*?`).replaceAll("…", ".*?");
  return new RegExp(`^${lines}$`);
}

/** A command of the program, with variables before it and a here-string behind it, or one of the shell. */
const ofProgram = /^((?:[A-Z_]+=\S* )*)skyhook (.*?)(?: <<< *'([^']*)')?$/;

function run(command: string, { cwd, env = {} }: Place): Promise<Ended> {
  const found = ofProgram.exec(command);
  if (found === null) {
    return ended(Bun.spawn(["bash", "-c", command], { cwd, stdout: "pipe", stderr: "pipe" }));
  }
  const [, variables = "", words = "", input] = found;
  const set = variables.trim().split(" ").filter(Boolean);
  const own = Object.fromEntries(set.map((each) => each.split(/=(.*)/).slice(0, 2)));
  const given = input === undefined ? {} : { input: `${input}\n` };
  return runSkyhook(wordsOf(words), { cwd, env: { ...env, ...own }, ...given });
}

/** The words of a command line, which single quotes hold together. */
const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
