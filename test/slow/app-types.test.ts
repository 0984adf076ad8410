import { expect, test } from "bun:test";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ended } from "../support/program.ts";

const root = join(import.meta.dir, "../..");

const mounts = ["app.ts", ...new Bun.Glob("*/room.rest.ts").scanSync(join(root, "src"))];

test("the types of routes have space for five more in each room", async () => {
  await using scratch = await scratchFolder();
  let made = 0;
  for (const mount of mounts) {
    const path = join(scratch.folder, "src", mount);
    const source = await Bun.file(path).text();
    const more = Array.from({ length: 5 }, () => {
      made += 1;
      return `.use(new Elysia().get("/more/${made}", () => "ok"))`;
    });
    // In each file, the first `.use` begins the chain that mounts the others.
    await Bun.write(path, source.replace(/(?=\.use\()/, more.join("")));
  }
  expect(made).toBe(35);
  const command = [process.execPath, "check", "--no-script"];
  const child = Bun.spawn(command, { cwd: scratch.folder, stdout: "pipe", stderr: "pipe" });
  const { out, err, code } = await ended(child);
  expect(code, `${out}\n${err}`).toBe(0);
});

/** The sources, in a folder where they can be changed. */
async function scratchFolder() {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-types-"));
  await cp(join(root, "src"), join(folder, "src"), { recursive: true });
  for (const entry of ["node_modules", "package.json"]) {
    await symlink(join(root, entry), join(folder, entry));
  }
  const include = ["src/app.ts", "src/**/*.d.ts"];
  const settings = { extends: join(root, "tsconfig.json"), include };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(settings));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
