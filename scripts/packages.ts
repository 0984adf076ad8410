import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A package in the program. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; null if the package declares none. */
  readonly license: string | null;
  /** Its dependencies, as `name@version`. */
  readonly needs: readonly string[];
}

/** The fields of a package.json that are used here. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The installed runtime dependencies of the project in `root`, direct and transitive. */
export function installedPackages(root: string): readonly Package[] {
  const project = manifestIn(root);
  const found = new Map<string, Package>();

  function add(name: string, neededIn: string): string | null {
    const folder = folderOf(name, neededIn, root);
    // Optional, or for another platform.
    if (folder === null) return null;
    const manifest = manifestIn(folder);
    const id = `${manifest.name}@${manifest.version}`;
    if (found.has(id)) return id;
    const { version, license = null } = manifest;
    const needs: string[] = [];
    found.set(id, { name: manifest.name, version, license, needs });
    for (const needed of neededBy(manifest)) {
      const neededId = add(needed, folder);
      if (neededId !== null) needs.push(neededId);
    }
    return id;
  }

  /** Peer dependencies that are our development dependencies, such as compilers and types, do not count. */
  function neededBy(manifest: Manifest): readonly string[] {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) =>
        peerDependenciesMeta?.[name]?.optional !== true &&
        !(name in (project.devDependencies ?? {})),
    );
    return Object.keys({ ...dependencies, ...optionalDependencies })
      .concat(peers)
      .toSorted();
  }

  for (const name of Object.keys(project.dependencies ?? {})) add(name, root);
  return [...found.values()].toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
}

export const idOf = ({ name, version }: Package): string => `${name}@${version}`;

/** The folder of a package that a file in `folder` imports: in the nearest `node_modules`, up to that of `root`. */
function folderOf(name: string, folder: string, root: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (at === root || at === dirname(at)) return null;
  }
}

function manifestIn(folder: string): Manifest {
  // Guarantee: npm's registry rejects packages whose manifest has other types in these fields.
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
