import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { removeFolder, temporaryFolder } from "../../support/program.ts";

import { Disk, type Fate } from "./disk.ts";
import { type Step, stepsIn } from "./steps.ts";

let now = 0;
const time = () => String((now += 1)).padStart(6, "0");
/** A step that ends before the next one begins. */
const during = () => ({ began: time(), ended: time() });

const create = (path: string): Step => ({
  does: "open",
  path,
  creates: true,
  empties: false,
  ...during(),
});
const write = (path: string, offset: number, text: string): Step => ({
  does: "write",
  path,
  offset,
  data: Buffer.from(text),
  ...during(),
});
const sync = (path: string): Step => ({ does: "sync", path, ...during() });
const rename = (path: string, to: string): Step => ({ does: "rename", path, to, ...during() });

/** What is left when changes have these fates, the oldest first; the others are dropped. */
function left(steps: readonly Step[], fates: readonly Fate[], blockBytes: 512 | 4096 = 512) {
  const disk = new Disk();
  for (const step of steps) disk.apply(step);
  const byNumber = new Map(disk.pending().map(({ number }, index) => [number, fates[index]]));
  const image = disk.after({
    blockBytes,
    fateOf: (number) => byNumber.get(number) ?? "dropped",
    unwritten: 0,
  });
  const texts = [...image].map(([path, content]) => [path, Buffer.from(content ?? "").toString()]);
  return Object.fromEntries(texts);
}

test("keeps a file that was synced, with its name", () => {
  const steps = [create("a"), write("a", 0, "text"), sync("a"), sync("")];
  expect(left(steps, [])).toEqual({ a: "text" });
});

test("may lose content that was not synced, and names that were not", () => {
  expect(left([create("a"), write("a", 0, "text"), sync("")], [])).toEqual({ a: "" });
  expect(left([create("a"), write("a", 0, "text"), sync("a")], [])).toEqual({});
  expect(left([create("a"), write("a", 0, "text"), sync("a")], ["kept"])).toEqual({ a: "text" });
});

test("may lose a write that was still running when the sync began", () => {
  const slow = { ...write("a", 0, "text"), ended: "9" };
  expect(left([create("a"), slow, sync("a"), sync("")], [])).toEqual({ a: "" });
});

test("may write later content before earlier content", () => {
  const steps = [create("a"), sync(""), write("a", 0, "x".repeat(512)), write("a", 512, "y")];
  expect(left(steps, ["dropped", "kept"])).toEqual({ a: `${"\0".repeat(512)}y` });
});

test("writes a block as the file was at one time", () => {
  const steps = [create("a"), sync(""), write("a", 0, "one"), write("a", 3, "two")];
  expect(left(steps, ["kept", "dropped"])).toEqual({ a: "one" });
  expect(left(steps, ["dropped", "kept"])).toEqual({ a: "onetwo" });
});

test("may tear a write between blocks", () => {
  const steps = [create("a"), sync(""), write("a", 0, "x".repeat(4096))];
  const half = (block: number, of: number) => block < of / 2;
  expect(left(steps, [half])).toEqual({ a: "x".repeat(2048) });
  expect(left(steps, [half], 4096)).toEqual({ a: "x".repeat(4096) });
});

test("may cut a file short, or not", () => {
  const truncate: Step = { does: "truncate", path: "a", size: 1, ...during() };
  const steps = [create("a"), write("a", 0, "text"), sync("a"), sync(""), truncate];
  expect(left(steps, ["kept"])).toEqual({ a: "t" });
  expect(left(steps, ["dropped"])).toEqual({ a: "text" });
  expect(left([...steps, write("a", 3, "x")], ["kept", "kept"])).toEqual({ a: "t\0\0x" });
});

test("renames as a whole, and may rename before an earlier change of names", () => {
  const steps = [create("a"), write("a", 0, "text"), sync("a"), rename("a", "b")];
  expect(left(steps, ["dropped", "kept"])).toEqual({ b: "text" });
  expect(left([...steps, sync("")], [])).toEqual({ b: "text" });
});

test("loses everything in a folder without a name", () => {
  const folder: Step = { does: "make folder", path: "data", ...during() };
  const steps = [
    folder,
    create("data/a"),
    write("data/a", 0, "text"),
    sync("data/a"),
    sync("data"),
  ];
  expect(left(steps, [])).toEqual({});
  expect(left([...steps, sync("")], [])).toEqual({ data: "", "data/a": "text" });
});

test("has what a killed program wrote last, and what the next one wrote over it, once that is synced", async () => {
  const folder = temporaryFolder();
  try {
    const hex = (text: string) =>
      [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16)}`).join("");
    const file = `3<${hex(join(folder, "a"))}>`;
    const traces = {
      killed: [
        `7 1.000000001 openat(AT_FDCWD<${hex(folder)}>, "${hex("a")}", O_CREAT) = ${file}`,
        `7 1.000000002 pwrite64(${file}, "${hex("old, old")}", 8, 0 <unfinished ...>`,
        "7 1.000000003 +++ killed by SIGKILL +++",
      ],
      next: [
        `8 2.000000001 pwrite64(${file}, "${hex("new")}", 3, 0) = 3`,
        `8 2.000000002 fsync(${file}) = 0`,
        `8 2.000000003 fsync(3<${hex(folder)}>) = 0`,
        "8 2.000000004 +++ exited with 0 +++",
      ],
    };
    const files = Object.entries(traces).map(([name, lines]) => {
      writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(""));
      return join(folder, name);
    });
    expect(left(await stepsIn(folder, files), [])).toEqual({ a: "new, old" });
  } finally {
    removeFolder(folder);
  }
});
