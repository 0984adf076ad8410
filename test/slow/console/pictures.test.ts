import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { noChromium } from "../../support/browser.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

const root = join(import.meta.dir, "../../..");
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** The names of the pictures in a folder, with their sizes. Chromium writes the extended format (RFC 9649 section 2.7). */
function picturesIn(path: string): readonly string[] {
  return readdirSync(path)
    .toSorted()
    .map((name) => {
      const bytes = readFileSync(join(path, name));
      expect(bytes.toString("latin1", 8, 16)).toBe("WEBPVP8X");
      const [width, height] = [24, 27].map((offset) => bytes.readUIntLE(offset, 3) + 1);
      return `${name} ${width} × ${height}`;
    });
}

test.skipIf(skips(noChromium))(
  "the pictures of the docs can be taken again",
  async () => {
    const taking = Bun.spawn(["bun", "run", "pictures", folder], { cwd: root, stdout: "ignore" });
    expect(await taking.exited).toBe(0);
    const taken = picturesIn(folder);
    expect(taken.length).toBeGreaterThan(20);
    expect(taken).toEqual(picturesIn(join(root, "docs/console")));
  },
  600_000,
);
