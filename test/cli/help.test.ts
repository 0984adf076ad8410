import { describe, expect, test } from "bun:test";

import { commandLine, oneLine } from "../support/cli.ts";
import { programName, runSkyhook } from "../support/program.ts";

const { skyhook, newFolder } = commandLine();

/** The help of a command, with its wrapped lines joined. */
async function helpOf(...command: string[]): Promise<string> {
  const { out, code } = await skyhook([...command, "--help"]);
  expect(code).toBe(0);
  return out.replaceAll(/\s+/g, " ");
}

test("--demo without a running demo says how to start one", async () => {
  const cwd = newFolder();
  const { err, code } = await skyhook(["--demo", "events"], { cwd, env: { XDG_RUNTIME_DIR: cwd } });
  expect([err, code]).toEqual([
    oneLine(`No demo of this user runs. Start one in another terminal: ${programName} demo`),
    2,
  ]);
});

test("ends quietly when what reads its output has ended", async () => {
  const script = 'for i in 1 2 3; do "$@" | head -c 1; done';
  const { out, err } = await runSkyhook(["send", "--help"], {
    cwd: newFolder(),
    through: ["bash", "-c", script, "bash"],
  });
  expect([out, err]).toEqual(["UUU", ""]);
});

describe("--help", () => {
  test.each([
    ["token", "--email <email> the user's e-mail address (required)"],
    ["destination add", "- reads it from standard input (required)"],
    ["listen", "like http://localhost:3000 (required)"],
  ])("of %s marks the options that are required", async (command, text) => {
    expect(await helpOf(...command.split(" "))).toContain(text);
  });

  test("marks no option that can be left out", async () => {
    expect(await helpOf("tail")).not.toContain("required");
  });

  test("shows two examples under one heading", async () => {
    expect((await helpOf("replay")).match(/Examples?:/g)).toEqual(["Examples:"]);
  });
});
