import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ended } from "../support/program.ts";

const root = join(import.meta.dir, "../..");

/** A room starts with `new Elysia()`; `.use(personsRest(` is in the chain that mounts all of them. */
const chains = /new Elysia\(\)\n|(?=\n {4}\.use\(personsRest\()/g;

test("the types of routes have space for five more in each room", async () => {
  await using scratch = await scratchFolder();
  const source = await Bun.file(join(root, "src/app.ts")).text();
  let made = 0;
  const one = () => `\n.use(new Elysia().get("/more/${made++}", () => "ok"))`;
  const longer = source.replaceAll(
    chains,
    (start) => `${start.trimEnd()}${Array.from({ length: 5 }, one).join("")}\n`,
  );
  expect(made).toBeGreaterThan(5);
  await Bun.write(join(scratch.folder, "src/app.ts"), longer);
  const command = [process.execPath, "check", "--no-script"];
  const child = Bun.spawn(command, { cwd: scratch.folder, stdout: "pipe", stderr: "pipe" });
  const { out, err, code } = await ended(child);
  expect(code, `${out}\n${err}`).toBe(0);
});

/** The repository, with an `app.ts` that can be changed. */
async function scratchFolder() {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-types-"));
  await mkdir(join(folder, "src"));
  const sources = (await readdir(join(root, "src"))).filter((name) => name !== "app.ts");
  for (const entry of ["node_modules", "package.json", ...sources.map((name) => `src/${name}`)]) {
    await symlink(join(root, entry), join(folder, entry));
  }
  const include = ["src/app.ts", "src/**/*.d.ts"];
  const settings = { extends: join(root, "tsconfig.json"), include };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(settings));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
