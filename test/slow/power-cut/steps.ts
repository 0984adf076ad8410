import { relative, resolve } from "node:path";

import { bytesOf, type Call, callsIn } from "./strace.ts";

/** One thing that a recorded program did to the files in a folder, or told somebody. */
export type Step = When &
  (
    | {
        readonly does: "open";
        readonly path: string;
        readonly creates: boolean;
        readonly empties: boolean;
      }
    | { readonly does: "make folder" | "remove" | "sync"; readonly path: string }
    | { readonly does: "link" | "rename"; readonly path: string; readonly to: string }
    | {
        readonly does: "write";
        readonly path: string;
        readonly offset: number;
        readonly data: Buffer;
      }
    | { readonly does: "truncate"; readonly path: string; readonly size: number }
    | { readonly does: "send"; readonly socket: string; readonly data: Buffer }
    | { readonly does: "print"; readonly data: Buffer }
  );

interface When {
  /** Times of the system call, as `Call` has them. */
  readonly began: string;
  readonly ended: string;
}

/** The end of the path of a file that was removed while it is open. */
export const removed = " (deleted)";

/** The index of a write-ahead log, which SQLite maps into memory and rebuilds after a power cut. */
const rebuilt = /-shm( \(deleted\))?$/;

/**
 * Reads what recorded programs did in the folder `root`, in one order. A step takes effect when it begins: from then
 * on it may be on disk. A sync takes effect when it ends. Throws if a program did what the steps cannot express.
 */
export async function stepsIn(root: string, files: readonly string[]): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const file of files) {
    const translate = translator(root);
    for (const call of await callsIn(file)) {
      const step = translate(call);
      if (step !== null) steps.push(step);
    }
  }
  const effective = ({ does, began, ended }: Step) => (does === "sync" ? ended : began);
  return steps.toSorted((one, other) => (effective(one) < effective(other) ? -1 : 1));
}

/** Translates the calls of one program. */
function translator(root: string): (call: Call) => Step | null {
  /** Where the next `write` to a file descriptor goes. */
  const offsets = new Map<string, number>();

  /** The path relative to `root`; null for other places. */
  function inside(path: string): string | null {
    const found = relative(root, path);
    return found.startsWith("..") || rebuilt.test(found) ? null : found;
  }
  const named = ({ text, strings }: Call, index: number) => {
    // `openat(AT_FDCWD</folder>, "file"…)`, or `open("file"…)`, which we use with absolute paths only.
    const folder = descriptors(text)[0]?.path ?? root;
    return inside(resolve(folder, strings[index]?.toString() ?? ""));
  };

  return (call) => {
    const { name, text, strings, result, from: began, to: ended } = call;
    const when = { began, ended };
    const [first] = descriptors(text);
    const path = first === undefined ? null : inside(first.path);
    switch (name) {
      case "open":
      case "openat": {
        const path = named(call, 0);
        if (path === null) return null;
        if (text.includes("O_APPEND")) throw unknown(call);
        offsets.set(String(result), 0);
        const [creates, empties] = [text.includes("O_CREAT"), text.includes("O_TRUNC")];
        return creates || empties ? { does: "open", path, creates, empties, ...when } : null;
      }
      case "mkdir": {
        const path = named(call, 0);
        return path === null ? null : { does: "make folder", path, ...when };
      }
      case "unlink":
      case "rmdir": {
        const path = named(call, 0);
        return path === null ? null : { does: "remove", path, ...when };
      }
      case "link":
      case "rename": {
        const [path, to] = [named(call, 0), named(call, 1)];
        if (path === null && to === null) return null;
        if (path === null || to === null) throw unknown(call);
        return { does: name, path, to, ...when };
      }
      case "ftruncate": {
        const size = Number(/, (\d+)/.exec(text)?.[1]);
        return path === null ? null : { does: "truncate", path, size, ...when };
      }
      case "fsync":
      case "fdatasync":
        // One that never returned promises nothing.
        return path === null || result !== 0 ? null : { does: "sync", path, ...when };
      case "lseek":
        if (path !== null) offsets.set(first?.number ?? "", result);
        return null;
      case "sendto":
      case "sendmsg":
      case "write":
      case "writev":
      case "pwrite64":
      case "pwritev": {
        const data = Buffer.concat(strings);
        // A call that never returned may have written all of it.
        const written = data.subarray(0, Math.min(result, data.length));
        if (first?.number === "1" || first?.number === "2")
          return { does: "print", data: written, ...when };
        if (first?.path.startsWith("socket:"))
          return { does: "send", socket: first.path, data: written, ...when };
        // Only SQLite writes to given offsets: to its files, and to no temporary file.
        if (path === null && name.startsWith("p") && !rebuilt.test(first?.path ?? ""))
          throw unknown(call);
        if (path === null) return null;
        return { does: "write", path, offset: offsetOf(call, written), data: written, ...when };
      }
      case "mmap":
        if (path === null || !/PROT_WRITE.*MAP_SHARED/.test(text)) return null;
        throw unknown(call);
      default:
        // All others: harmless elsewhere.
        if (
          name === "io_uring_setup" ||
          descriptors(text).some(({ path }) => inside(path) !== null)
        )
          throw unknown(call);
        return null;
    }
  };

  function offsetOf({ name, text }: Call, { length }: Buffer): number {
    if (name.startsWith("p")) return Number(/, (\d+) *\) += /.exec(text)?.[1]);
    const number = descriptors(text)[0]?.number ?? "";
    const offset = offsets.get(number);
    if (offset === undefined) throw new Error(`The offset of a write is not known: ${text}`);
    offsets.set(number, offset + length);
    return offset;
  }
}

/** The file descriptors among arguments and result, with their paths: `12<\x2f\x74>`. */
function descriptors(text: string): readonly { number: string; path: string }[] {
  const found = text.matchAll(/(\w+)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?/g);
  return [...found].map(([, number = "", path = "", deleted]) => ({
    number,
    path: bytesOf(path).toString() + (deleted === undefined ? "" : removed),
  }));
}

const unknown = ({ text }: Call) =>
  new Error(`The model of the disk does not know this call: ${text}`);
