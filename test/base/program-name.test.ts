import { expect, test } from "bun:test";
import { join } from "node:path";

const module = join(import.meta.dir, "../../src/base/program-name.ts");
const script = `import { programName, startCommand } from "${module}"; console.log([programName, startCommand].join());`;

test.each([
  ["a command in a clone", ["bun", "events"], "bun skyhook,bun skyhook serve"],
  ["a command through a link", ["/usr/local/bin/skyhook", "events"], "skyhook,skyhook serve"],
  ["the demo", ["bun", "demo"], "bun skyhook --demo,bun skyhook demo"],
  ["a command for the demo", ["bun", "--demo", "events"], "bun skyhook --demo,bun skyhook demo"],
])("names the program as it was called: %s", async (_, [called = "", ...words], names) => {
  const file = join(process.env["TMPDIR"] ?? "/tmp", `program-name-${crypto.randomUUID()}.ts`);
  await Bun.write(file, script);
  const { stdout } = Bun.spawnSync([process.execPath, file, ...words], { env: { _: called } });
  await Bun.file(file).delete();
  expect(stdout.toString().trim()).toBe(names);
});
