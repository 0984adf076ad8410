import { expect, test } from "bun:test";
import { join } from "node:path";

import { commandLine } from "../../support/cli.ts";
import { csvHeader } from "../../support/flights-csv.ts";

const { skyhook, newFolder } = commandLine();

test.each([
  [["import", "flights.csv"]],
  [["person", "export", "ada@example.com"]],
  [["client", "list"]],
])("%j does not pretend to use the database in the memory of a server", async (args) => {
  const cwd = newFolder();
  await Bun.write(join(cwd, "flights.csv"), csvHeader);
  const { out, err, code } = await skyhook(args, { cwd, env: { DATABASE_URL: "sqlite::memory:" } });
  expect([out, code]).toEqual(["", 1]);
  expect(err).toContain("skyhook: The database is in memory");
});
