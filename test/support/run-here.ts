import { format } from "node:util";

import { run } from "../../src/cli/run.ts";

/** What a command that ended has printed. */
export interface Ended {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** Commands share this process's folder, standard streams and exit code, so one runs at a time. */
let turn: Promise<unknown> = Promise.resolve();

/** Runs a command in this process, which takes 4 ms where a process of its own takes 110 ms. */
export function runHere(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Ended> {
  const ended = turn.then(() => captured(args, cwd, env, input));
  turn = ended.catch(() => {});
  return ended;
}

async function captured(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input: string,
): Promise<Ended> {
  const printed = { out: "", err: "" };
  const restore = [redirect(printed, "out"), redirect(printed, "err"), enter(cwd), give(input)];
  try {
    process.exitCode = 0;
    // Like a process of its own, which has no variables but these.
    await run([process.execPath, "skyhook", ...args], { ...env });
    return { ...printed, code: Number(process.exitCode) };
  } finally {
    process.exitCode = 0;
    for (const undo of restore) undo();
  }
}

/** The ways to print, as this process began with them. */
const own = {
  out: { write: process.stdout.write.bind(process.stdout), print: console.log.bind(console) },
  err: { write: process.stderr.write.bind(process.stderr), print: console.error.bind(console) },
};

/** Collects what is written to a standard stream, which is no terminal meanwhile. Returns what undoes that. */
function redirect(printed: { out: string; err: string }, to: "out" | "err"): () => void {
  const stream = to === "out" ? process.stdout : process.stderr;
  const method = to === "out" ? "log" : "error";
  const wasTerminal = stream.isTTY;
  const collect = (
    chunk: string | Uint8Array,
    ...[first, last = first]: (string | (() => void) | undefined)[]
  ) => {
    printed[to] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
    if (typeof last === "function") queueMicrotask(last);
    return true;
  };
  stream.write = collect;
  stream.isTTY = false;
  console[method] = (...values: unknown[]) => void collect(`${format(...values)}\n`);
  return () => {
    stream.write = own[to].write;
    stream.isTTY = wasTerminal;
    console[method] = own[to].print;
  };
}

/** Replaces standard input, which is no terminal meanwhile. Returns what undoes that. */
function give(input: string): () => void {
  const { stdin } = Bun;
  const wasTerminal = process.stdin.isTTY;
  const setInput = (value: Blob) => Object.defineProperty(Bun, "stdin", { value });
  setInput(new Blob([input]));
  process.stdin.isTTY = false;
  return () => {
    setInput(stdin);
    process.stdin.isTTY = wasTerminal;
  };
}

function enter(folder: string): () => void {
  const former = process.cwd();
  process.chdir(folder);
  return () => process.chdir(former);
}
