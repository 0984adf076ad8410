import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { sameEverywhere } from "../../scripts/build.ts";
import { at, textAt } from "../../src/base/payload.ts";
import { commandLine } from "../support/cli.ts";

const root = join(import.meta.dir, "../..");
const { skyhook } = commandLine();
let document: unknown;
beforeAll(async () => {
  const { out, code } = await skyhook(["version", "--sbom"]);
  expect(code).toBe(0);
  document = JSON.parse(out);
});

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = at(value, name);
  return Array.isArray(list) ? list : [];
}

const addresses = () => listAt(document, "components").map((one) => textAt(one, "purl") ?? "");

test("the list of what is inside has the form of CycloneDX 1.6", () => {
  expect(document).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
  expect(at(document, "metadata", "component")).toMatchObject({
    type: "application",
    name: "skyhook",
  });
  const components = listAt(document, "components");
  expect(components.length).toBeGreaterThan(20);
  for (const one of components) {
    expect(one).toEqual({
      type: expect.stringMatching(/^(?:library|platform)$/),
      "bom-ref": textAt(one, "purl"),
      name: expect.stringMatching(/^[^@/]+$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      licenses: [
        expect.objectContaining(
          at(listAt(one, "licenses")[0], "expression") === undefined
            ? { license: { id: expect.stringMatching(/^[\w.-]+$/) } }
            : { expression: expect.stringMatching(/ (?:OR|AND|WITH) /) },
        ),
      ],
      purl: expect.stringMatching(/^pkg:(?:npm\/(?:%40[\w.-]+\/)?|github\/oven-sh\/)[\w.-]+@\S+$/),
      ...(at(one, "group") !== undefined && { group: expect.stringMatching(/^@/) }),
    });
  }
});

test("each component is listed once, and what it needs is listed too", () => {
  const listed = addresses();
  expect(new Set(listed).size).toBe(listed.length);
  const known = new Set([textAt(document, "metadata", "component", "purl"), ...listed]);
  const dependencies = listAt(document, "dependencies");
  for (const { ref, dependsOn } of dependencies.map((one) => Object(one))) {
    expect(known).toContain(ref);
    for (const needed of dependsOn) expect(known).toContain(needed);
  }
});

test("all packages that the build puts into the program are listed, and no development tool", async () => {
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
  expect(inside.filter((one) => !addresses().includes(one))).toEqual([]);
  for (const tool of ["typescript", "oxlint", "fast-check", "supports-color"]) {
    expect(addresses().filter((address) => address.startsWith(`pkg:npm/${tool}@`))).toEqual([]);
  }
});
