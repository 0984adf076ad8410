import { describe, expect, test } from "bun:test";

import { commandLine } from "../support/cli.ts";

const { skyhook } = commandLine();

/** The help of a command, with its wrapped lines joined. */
async function helpOf(...command: string[]): Promise<string> {
  const { out, code } = await skyhook([...command, "--help"]);
  expect(code).toBe(0);
  return out.replaceAll(/\s+/g, " ");
}

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
