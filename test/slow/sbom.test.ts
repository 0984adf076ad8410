import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { sameEverywhere } from "../../scripts/build.ts";

const root = join(import.meta.dir, "../..");

test("all packages that the build puts into the program are listed, and no development tool", async () => {
  const { components }: { components: { purl: string }[] } =
    await Bun.$`bun ${join(root, "scripts/sbom.ts")}`.json();
  const listed = components.map(({ purl }) => purl);
  const { metafile } = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    target: "bun",
    metafile: true,
    splitting: true,
    plugins: [sameEverywhere],
  });
  const folders = Object.keys(metafile?.inputs ?? {}).flatMap((input) => {
    const path = relative(root, join(root, input));
    return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [];
  });
  const inside = [...new Set(folders)].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return `pkg:npm/${String(name).replace("@", "%40")}@${version}`;
  });
  expect(inside.length).toBeGreaterThan(20);
  expect(inside.filter((one) => !listed.includes(one))).toEqual([]);
  for (const tool of ["typescript", "oxlint", "fast-check", "supports-color"]) {
    expect(listed.filter((address) => address.startsWith(`pkg:npm/${tool}@`))).toEqual([]);
  }
});
