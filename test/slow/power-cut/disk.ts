import { basename, dirname } from "node:path";

import { removed, type Step } from "./steps.ts";

/** What has become of a change that was not synced. */
export type Fate = "kept" | "dropped" | Torn;
/** Which blocks of a write are on disk. */
type Torn = (block: number, of: number) => boolean;

/** How a power cut goes. */
export interface PowerCut {
  /** What the disk writes as a whole. */
  readonly blockBytes: 512 | 4096;
  /** The fate of a change, by its number. */
  readonly fateOf: (change: number) => Fate;
  /** What a block contains that a file has gained but that was not written. */
  readonly unwritten: number;
}

/** A change that a power cut may take. */
export interface Change {
  readonly number: number;
  readonly what: string;
  /** Whether it changes names, not content. */
  readonly isOfNames: boolean;
  /** When its call returned. */
  readonly ended: string;
}

type Edit = Change & { readonly from: number; readonly to: number } & (
    | { readonly data: Uint8Array }
    /** Cuts the file, or extends it with zeros, from `from` to `to`. */
    | { readonly data: null; readonly size: number }
  );

type Rename = Change & { readonly names: readonly (readonly [string, Node | null])[] };

type Node = FileNode | FolderNode;

/** The content of a folder after a power cut: bytes, or null for a folder. */
export type Image = ReadonlyMap<string, Uint8Array | null>;

/**
 * A disk that promises only what POSIX does: a file's content is there after its `fsync`, a name after the `fsync` of
 * its folder, and nothing else. Everything later may be there or not, each block and each name for itself:
 * - A block contains what the file contained there at any time since its sync, so writes are dropped, kept, torn and
 *   reordered, but bytes that were not written do not change.
 * - A name refers to what it referred to at any time since the sync of its folder. A rename is whole.
 * File systems promise more: ext4 with data=ordered writes content before the size that covers it, names in their
 * order, and the name of a new file with its content.
 */
export class Disk {
  readonly #root = new FolderNode();
  #number = 0;
  /** Removed and replaced files, which a program may still have open, by their last name. */
  readonly #removed = new Map<string, Node>();

  apply(step: Step): void {
    const { does, began, ended } = step;
    const changed = (what: string, isOfNames: boolean): Change => {
      return { number: (this.#number += 1), what, isOfNames, ended };
    };
    const content = (what: string) => changed(what, false);
    const names = (what: string) => changed(what, true);
    switch (does) {
      case "make folder":
        this.#name(step.path, new FolderNode(), names(`make folder ${step.path}`));
        break;
      case "open": {
        if (step.creates && this.#find(step.path) === null)
          this.#name(step.path, new FileNode(), names(`create ${step.path}`));
        else if (step.empties) this.#file(step.path).truncate(0, content(`empty ${step.path}`));
        break;
      }
      case "write": {
        const { path, offset, data } = step;
        const what = `write ${data.length} bytes of ${path} at ${offset}`;
        this.#file(path).write(offset, data, content(what));
        break;
      }
      case "truncate": {
        const { path, size } = step;
        this.#file(path).truncate(size, content(`truncate ${path} to ${size} bytes`));
        break;
      }
      case "remove":
        this.#name(step.path, null, names(`remove ${step.path}`));
        break;
      case "link":
        this.#name(step.to, this.#find(step.path), names(`link ${step.path} to ${step.to}`));
        break;
      case "rename": {
        const { path, to } = step;
        this.#rename(path, to, names(`rename ${path} to ${to}`));
        break;
      }
      case "sync":
        this.#find(step.path)?.sync(began);
        break;
      case "send":
      case "print":
        break;
    }
  }

  /** The changes that are not certainly on disk, oldest first. */
  pending(): readonly Change[] {
    const found = new Map<number, Change>();
    const seen = new Set<Node>();
    const visit = (node: Node) => {
      if (seen.has(node)) return;
      seen.add(node);
      for (const change of node.pending) found.set(change.number, change);
      if (node instanceof FolderNode) for (const child of node.everNamed()) visit(child);
    };
    visit(this.#root);
    return [...found.values()].toSorted((one, other) => one.number - other.number);
  }

  /** What is on the disk after a power cut now. */
  after(cut: PowerCut): Image {
    const image = new Map<string, Uint8Array | null>();
    const visit = (node: Node, path: string) => {
      if (node instanceof FileNode) image.set(path, node.after(cut));
      else {
        if (path !== "") image.set(path, null);
        for (const [name, child] of node.after(cut)) {
          visit(child, path === "" ? name : `${path}/${name}`);
        }
      }
    };
    visit(this.#root, "");
    return image;
  }

  /** Adds a file or a folder that is on disk. */
  add(path: string, content: Uint8Array | null): void {
    const node = content === null ? new FolderNode() : new FileNode(content);
    this.#folder(dirname(path)).addSynced(basename(path), node);
  }

  #name(path: string, node: Node | null, change: Change): void {
    this.#forget(path);
    this.#folder(dirname(path)).name([[basename(path), node]], change);
  }

  #rename(path: string, to: string, change: Change): void {
    if (dirname(path) !== dirname(to)) throw new Error(`${path} moves to another folder`);
    const node = this.#find(path);
    this.#forget(to);
    const names = [[basename(path), null] as const, [basename(to), node] as const];
    this.#folder(dirname(path)).name(names, change);
  }

  #forget(path: string): void {
    const found = this.#find(path);
    if (found !== null) this.#removed.set(path, found);
  }

  #find(path: string): Node | null {
    if (path === "" || path === ".") return this.#root;
    if (path.endsWith(removed)) return this.#removed.get(path.slice(0, -removed.length)) ?? null;
    const folder = this.#find(dirname(path));
    return folder instanceof FolderNode ? (folder.now.get(basename(path)) ?? null) : null;
  }

  #folder(path: string): FolderNode {
    const found = this.#find(path);
    if (found instanceof FolderNode) return found;
    throw new Error(`There is no folder ${path}`);
  }

  #file(path: string): FileNode {
    const found = this.#find(path);
    if (found instanceof FileNode) return found;
    throw new Error(`There is no file ${path}`);
  }
}

/** A file: what is certainly on disk, and what was done to it since. */
class FileNode {
  #synced: Uint8Array;
  #syncedSize: number;
  /** The size that programs see. */
  #size: number;
  #edits: Edit[] = [];

  constructor(content: Uint8Array = new Uint8Array()) {
    this.#synced = content;
    this.#syncedSize = this.#size = content.length;
  }

  get pending(): readonly Change[] {
    return this.#edits;
  }

  write(from: number, data: Uint8Array, change: Change): void {
    this.#edits.push({ ...change, from, to: from + data.length, data });
    this.#size = Math.max(this.#size, from + data.length);
  }

  truncate(size: number, change: Change): void {
    if (size === this.#size) return;
    const [from, to] = [Math.min(size, this.#size), Math.max(size, this.#size)];
    this.#edits.push({ ...change, from, to, data: null, size });
    this.#size = size;
  }

  /** Makes everything durable whose call had returned when the sync began. */
  sync(began: string): void {
    const isCovered = ({ ended }: Edit) => ended < began;
    for (const edit of this.#edits.filter(isCovered)) {
      const size = edit.data === null ? edit.size : Math.max(this.#syncedSize, edit.to);
      this.#reserve(Math.max(size, edit.to));
      if (edit.data === null) this.#synced.fill(0, edit.from, edit.to);
      else this.#synced.set(edit.data, edit.from);
      this.#syncedSize = size;
    }
    this.#edits = this.#edits.filter((edit) => !isCovered(edit));
  }

  #reserve(size: number): void {
    if (size <= this.#synced.length) return;
    const larger = new Uint8Array(Math.max(size, 2 * this.#synced.length));
    larger.set(this.#synced.subarray(0, this.#syncedSize));
    this.#synced = larger;
  }

  after({ blockBytes, fateOf, unwritten }: PowerCut): Uint8Array {
    /** The last edit that has reached the disk, by block. */
    const last = new Map<number, number>();
    let size = this.#syncedSize;
    for (const [index, edit] of this.#edits.entries()) {
      const fate = fateOf(edit.number);
      if (fate === "dropped") continue;
      const blocks = blocksOf(edit, blockBytes);
      if (edit.data === null) {
        // Its size changes as a whole.
        if (fate !== "kept") continue;
        size = edit.size;
      }
      for (const [nth, block] of blocks.entries()) {
        if (fate !== "kept" && !fate(nth, blocks.length)) continue;
        last.set(block, index);
        if (edit.data !== null) size = Math.max(size, Math.min(edit.to, (block + 1) * blockBytes));
      }
    }
    const content = new Uint8Array(size);
    content.set(this.#synced.subarray(0, Math.min(size, this.#syncedSize)));
    // A block that was never written contains what was there before, for example zeros.
    const firstNew = Math.ceil(this.#syncedSize / blockBytes);
    for (let block = firstNew; block * blockBytes < size; block += 1) {
      if (!last.has(block)) content.fill(unwritten, block * blockBytes, (block + 1) * blockBytes);
    }
    for (const [index, edit] of this.#edits.entries()) {
      for (const block of blocksOf(edit, blockBytes)) {
        if (index > (last.get(block) ?? -1)) continue;
        const from = Math.max(edit.from, block * blockBytes);
        const to = Math.min(edit.to, (block + 1) * blockBytes, size);
        if (to <= from) continue;
        if (edit.data === null) content.fill(0, from, to);
        else content.set(edit.data.subarray(from - edit.from, to - edit.from), from);
      }
    }
    return content;
  }
}

function blocksOf({ from, to }: Edit, blockBytes: number): readonly number[] {
  const first = Math.floor(from / blockBytes);
  return Array.from({ length: Math.ceil(to / blockBytes) - first }, (_, index) => first + index);
}

/** A folder: the names that are certainly on disk, and those of now. */
class FolderNode {
  readonly #synced = new Map<string, Node>();
  readonly now = new Map<string, Node>();
  #renames: Rename[] = [];

  get pending(): readonly Change[] {
    return this.#renames;
  }

  /** All nodes that a name may refer to after a power cut. */
  everNamed(): readonly Node[] {
    const nodes = this.#renames.flatMap(({ names }) => names.flatMap(([, node]) => node ?? []));
    return [...this.#synced.values(), ...nodes];
  }

  addSynced(name: string, node: Node): void {
    this.#synced.set(name, node);
    this.now.set(name, node);
  }

  name(names: Rename["names"], change: Change): void {
    this.#renames.push({ ...change, names });
    put(this.now, names);
  }

  sync(began: string): void {
    const isCovered = ({ ended }: Rename) => ended < began;
    for (const { names } of this.#renames.filter(isCovered)) put(this.#synced, names);
    this.#renames = this.#renames.filter((rename) => !isCovered(rename));
  }

  after({ fateOf }: PowerCut): ReadonlyMap<string, Node> {
    const names = new Map(this.#synced);
    for (const rename of this.#renames) {
      if (fateOf(rename.number) === "kept") put(names, rename.names);
    }
    return names;
  }
}

function put(into: Map<string, Node>, names: Rename["names"]): void {
  for (const [name, node] of names) {
    if (node === null) into.delete(name);
    else into.set(name, node);
  }
}
