import { join } from "node:path";

import manifest from "../package.json" with { type: "json" };
import { version } from "../src/base/version.ts";

import { idOf, installedPackages, type Package } from "./packages.ts";

/** A file that contains the program. */
interface Archive {
  readonly name: string;
  readonly sha256: string;
}

/**
 * The program's packages and its Bun runtime as a CycloneDX 1.6 document (ECMA-424), of an archive if one is given. Without
 * a time and a serial number, so that the same source gives the same document.
 */
export function sbom(archive?: Archive): object {
  const packages = installedPackages(join(import.meta.dir, ".."));
  const components = [bun, ...packages.map(component)];
  const direct = Object.entries(manifest.dependencies).map(([name, pinned]) =>
    purlOf({ name, version: pinned }),
  );
  const plain = `pkg:generic/skyhook@${version}`;
  const self =
    archive === undefined
      ? plain
      : `${plain}?checksum=sha256:${archive.sha256}&file_name=${archive.name}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name: "skyhook",
        version,
        ...(archive && { hashes: [{ alg: "SHA-256", content: archive.sha256 }] }),
        licenses: [{ license: { id: "MIT" } }],
        purl: self,
      },
    },
    components,
    dependencies: [
      { ref: self, dependsOn: [bun.purl, ...direct] },
      ...packages.map((one) => ({
        ref: purlOf(one),
        dependsOn: packages.filter((other) => one.needs.includes(idOf(other))).map(purlOf),
      })),
    ],
  };
}

const bunPurl = `pkg:github/oven-sh/bun@bun-v${Bun.version}`;
const bun = {
  type: "platform",
  "bom-ref": bunPurl,
  name: "bun",
  version: Bun.version,
  licenses: [{ license: { id: "MIT" } }],
  purl: bunPurl,
} as const;

function component(one: Package): object {
  const { group, name } = namesOf(one);
  const { version, license } = one;
  const purl = purlOf(one);
  return {
    type: "library",
    "bom-ref": purl,
    ...(group !== null && { group }),
    name,
    version,
    ...(license !== null && { licenses: [licence(license)] }),
    purl,
  };
}

/** One license by its SPDX identifier, several as an expression. */
function licence(text: string): object {
  return /^[\w.+-]+$/.test(text) ? { license: { id: text } } : { expression: text };
}

/** A package URL. In those of npm, the `@` of a scope is percent-encoded. */
function purlOf(one: Pick<Package, "name" | "version">): string {
  const { group, name } = namesOf(one);
  const scope = group === null ? "" : `${encodeURIComponent(group)}/`;
  return `pkg:npm/${scope}${name}@${one.version}`;
}

function namesOf({ name }: Pick<Package, "name">): {
  readonly group: string | null;
  readonly name: string;
} {
  const [, group = null, bare = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return { group, name: bare };
}

if (import.meta.main) console.log(JSON.stringify(sbom(), null, 2));
