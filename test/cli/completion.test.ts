import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { commandLine } from "../support/cli.ts";
import { notInstalled, skips } from "../support/skips.ts";

const { skyhook, newFolder } = commandLine();
const main = resolve(import.meta.dir, "../../src/main.ts");

describe("skyhook completion bash", () => {
  // A real shell, with the program under its own name.
  const folder = newFolder();
  const program = join(folder, "skyhook");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(program, 0o755);

  /** What bash offers for a command line whose last word is begun. */
  async function offered(...words: string[]): Promise<string[]> {
    const script = `eval "$(skyhook completion bash)"
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _skyhook; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, HOME: folder };
    const shell = Bun.spawn(["bash", "-c", script, "bash", "skyhook", ...words], {
      cwd: folder,
      env,
    });
    const text = await new Response(shell.stdout).text();
    return text.split("\n").filter((word) => word !== "");
  }

  test("completes in a shell", async () => {
    expect(await offered("send", "code_host", "pack")).toEqual(["package.published"]);
  });

  test.each([
    [["re"], ["rejections", "replay", "register", "reconcile", "restore"]],
    [
      ["destination", "re"],
      ["resume", "retry", "remove"],
    ],
    [["send", "git"], ["github"]],
    [["send", "--secret", "x", "github", "pack"], ["package.published"]],
    [["events", "--provider", "deploy"], ["deploy_platform"]],
    [
      ["events", "--delivery", "de"],
      ["delivered", "dead"],
    ],
    [["events", "--del"], ["--delivery"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["import", ""], []],
  ])("completes %j", async (words, expected) => {
    const { out } = await skyhook(["complete", "--", ...words]);
    const begun = out
      .split("\n")
      .filter((word) => word !== "" && word.startsWith(words.at(-1) ?? ""));
    expect(begun.toSorted()).toEqual(expected.toSorted());
  });
});

describe.each([
  ["zsh", "compdef _skyhook skyhook"],
  ["fish", "complete -c skyhook"],
])("skyhook completion %s", (shell, line) => {
  test("prints a script", async () => {
    const { out, code } = await skyhook(["completion", shell]);
    expect(out).toContain(line);
    expect(code).toBe(0);
  });

  test.skipIf(skips(notInstalled(shell)))("prints what the shell understands", async () => {
    const { out } = await skyhook(["completion", shell]);
    const checked = Bun.spawn([shell, "-n", "-c", out], { stderr: "pipe" });
    expect([await checked.exited, await new Response(checked.stderr).text()]).toEqual([0, ""]);
  });
});
