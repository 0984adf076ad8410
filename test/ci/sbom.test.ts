import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";

import { at, textAt } from "../../src/base/payload.ts";

let document: unknown;
beforeAll(async () => {
  document = await Bun.$`bun ${join(import.meta.dir, "../../scripts/sbom.ts")}`.json();
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
