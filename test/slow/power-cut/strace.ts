import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";

import { until } from "../../support/app.ts";
import { notInstalled } from "../../support/skips.ts";

/** Every system call that can change a file or its name, and those that tell others of it. */
const traced = [
  ..."write writev pwrite64 pwritev pwritev2 ftruncate truncate fallocate lseek".split(" "),
  ..."fsync fdatasync sync_file_range syncfs sync msync mmap io_uring_setup".split(" "),
  ..."open openat openat2 creat mkdir mkdirat rmdir".split(" "),
  ..."rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat".split(" "),
  ..."copy_file_range sendfile splice sendto sendmsg sendmmsg".split(" "),
];

/** Longer than any single write. */
const maxStringBytes = 64 * 2 ** 20;
const patienceMs = 60_000;

/** The command prefix that records the system calls of a program, with all its threads, in `file`. */
export function recordedIn(file: string): readonly string[] {
  return [
    "strace",
    // The program keeps its process id and receives its signals itself.
    "--daemonize",
    "--follow-forks",
    "--seccomp-bpf",
    "--decode-fds=path",
    "--strings-in-hex=all",
    `--string-limit=${maxStringBytes}`,
    "--absolute-timestamps=format:unix,precision:ns",
    "--quiet=attach,personality",
    `--trace=${traced.join(",")}`,
    `--output=${file}`,
  ];
}

/** Why nothing can be recorded on this machine; null if it can. */
export function noRecording(): string | null {
  const missing = notInstalled("strace");
  if (missing !== null) return missing;
  const trial = Bun.spawnSync([...recordedIn("/dev/null"), "true"]);
  const isUsable = trial.exitCode === 0 && trial.stderr.length === 0;
  return isUsable ? null : "strace does not work here";
}

/** A system call that succeeded, or was still running at the end. */
export interface Call {
  readonly name: string;
  /** Arguments and result, without the content of strings. */
  readonly text: string;
  /** The strings among the arguments. */
  readonly strings: readonly Buffer[];
  /** Infinity if the call never returned. */
  readonly result: number;
  /** When it began, and returned or ended with its thread, in nanoseconds since the epoch, as text of equal length. */
  readonly from: string;
  readonly to: string;
}

/** Later than any time of a call. */
const never = "9";

/** Waits until the recorded program has ended and reads its calls, in the order in which they began. */
export async function callsIn(file: string): Promise<readonly Call[]> {
  await until(() => existsSync(file) && hasEnded(file), patienceMs);
  const calls: Call[] = [];
  /** Calls that have begun, by thread. */
  const open = new Map<string, { index: number; text: string; from: string }>();
  for (const line of linesOf(readFileSync(file))) {
    const { thread, time, rest } = partsOf(line);
    if (rest.startsWith("---")) continue;
    if (rest.startsWith("+++")) {
      // A kill ended the call: what it has written by then is what other programs see.
      const begun = open.get(thread);
      if (begun !== undefined) {
        calls[begun.index] = callFrom(`${begun.text}) = ?`, begun.from, time);
      }
      continue;
    }
    if (rest.endsWith("<unfinished ...>")) {
      const begun = { text: rest.slice(0, -"<unfinished ...>".length), from: time };
      open.set(thread, { ...begun, index: calls.length });
      // Takes the place of the call in the order, and stays if the program was killed meanwhile.
      calls.push(callFrom(`${begun.text}) = ?`, time, never));
    } else if (rest.startsWith("<... ")) {
      const begun = open.get(thread);
      if (begun === undefined) throw new Error(`A call returned that never began: ${rest}`);
      open.delete(thread);
      const text = begun.text + rest.slice(rest.indexOf(" resumed>") + " resumed>".length);
      calls[begun.index] = callFrom(text, begun.from, time);
    } else calls.push(callFrom(rest, time, time));
  }
  return calls.filter(({ result }) => result >= 0);
}

/** Whether the last line is about the end of the thread that the first line is about. */
function hasEnded(file: string): boolean {
  const { size } = statSync(file);
  const first = textAt(file, 0, 64);
  const last =
    textAt(file, Math.max(0, size - 128), 128)
      .trimEnd()
      .split("\n")
      .at(-1) ?? "";
  const [thread = "?"] = first.split(" ");
  return last.startsWith(`${thread} `) && last.includes(" +++ ");
}

function textAt(file: string, position: number, length: number): string {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(length);
    return buffer.toString("latin1", 0, readSync(descriptor, buffer, 0, length, position));
  } finally {
    closeSync(descriptor);
  }
}

function* linesOf(bytes: Buffer): Iterable<string> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf("\n", start);
    yield bytes.toString("latin1", start, end === -1 ? bytes.length : end);
    start = end === -1 ? bytes.length : end + 1;
  }
}

/** `4711 1795366602.276590198 fsync(…) = 0` */
function partsOf(line: string) {
  const [head = "", thread = "", seconds = "", nanoseconds = ""] =
    /^(\d+) +(\d+)\.(\d+) /.exec(line.slice(0, 64)) ?? [];
  if (head === "") throw new Error(`Not a line of strace: ${line.slice(0, 64)}`);
  return { thread, time: seconds + nanoseconds, rest: line.slice(head.length) };
}

function callFrom(line: string, from: string, to: string): Call {
  // All strings are in hex, so a quotation mark only begins or ends one.
  const parts = line.split('"');
  if (parts.some((part, index) => index > 0 && index % 2 === 0 && part.startsWith("...")))
    throw new Error("strace cut a string short");
  const text = parts.filter((_, index) => index % 2 === 0).join('""');
  const result = text.slice(text.lastIndexOf(" = ") + 3);
  return {
    name: text.slice(0, text.indexOf("(")),
    text,
    strings: parts.filter((_, index) => index % 2 === 1).map(bytesOf),
    result: result.startsWith("?") ? Infinity : Number.parseInt(result, 10),
    from,
    to,
  };
}

/** Decodes `\x2f\x74`. */
export const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll("\\x", ""), "hex");
