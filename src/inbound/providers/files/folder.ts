import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";

import { setNewest } from "../../../base/bounded-map.ts";
import { sha256 } from "../../../base/crypto.ts";
import { errorCode, errorMessage } from "../../../base/errors.ts";
import { FileError } from "../../../base/file-error.ts";
import { nearest } from "../../../base/nearest.ts";
import { createFile } from "../../../base/private-file.ts";
import { providerById } from "../catalogue.ts";
import type { Provider } from "../provider.ts";

import { maxFileCharacters } from "./checked-file.ts";
import { extendedProvider, isExtension } from "./extension.ts";
import { fileProvider } from "./file-provider.ts";
import { readProviderFile } from "./provider-file.ts";

const extensions = [".yaml", ".yml", ".json"];
/** Each provider has series of metrics, so their number must be bounded. */
const maxFiles = 200;
/** The id of a provider: a part of its URL, of its file's name and of its variable. */
export const providerIdPattern = /^[a-z][a-z0-9_]{0,39}$/;

/**
 * The providers of all files in a folder, by name. Empty if the folder does not exist. Throws a `FileError` that names
 * every error of every file. `taken`: ids that a file cannot have.
 */
export function readProviderFolder(folder: string, taken: readonly string[]): readonly Provider[] {
  const files = filesIn(folder);
  const messages: string[] = [];
  const providers = new Map<string, Provider>();
  for (const path of files) {
    try {
      const id = providerIdOf(path, taken);
      const other = providers.get(id)?.path;
      if (other !== undefined) throw new FileError(`${path}:1: ${other} has the same name`);
      providers.set(id, readProvider(id, path));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      messages.push(...error.messages);
    }
  }
  if (files.length > maxFiles) {
    messages.push(`${folder} has ${files.length} provider files: at most ${maxFiles} are allowed`);
  }
  if (messages.length > 0) throw new FileError(...messages);
  return [...providers.values()];
}

/** What was read before, by id and revision: a reload parses only the files that changed. */
const parsed = new Map<string, Provider>();

/** Reads one file as a provider. Throws a `FileError`. */
export function readProvider(id: string, path: string): Provider {
  const text = textOf(path);
  const revision = sha256(text);
  const key = `${id} ${revision}`;
  const provider = parsed.get(key) ?? providerFrom(id, path, text);
  setNewest(parsed, key, provider, maxFiles);
  return { ...provider, path, revision };
}

/** The provider that a text describes. Throws a `FileError` that names every error. */
export function providerFrom(id: string, path: string, text: string): Provider {
  if (isExtension(text)) return extendedProvider(id, path, text);
  if (providerById(id) === undefined) return fileProvider(id, path, readProviderFile(path, text));
  throw new FileError(
    `${path}:1: ${id} is built in: write "extends: ${id}", or give the file another name`,
  );
}

/** The name of a new provider's file is taken. */
export class ProviderFileExists extends Error {
  override readonly name = "ProviderFileExists";

  constructor(readonly path: string) {
    super(`${path} exists`);
  }
}

/**
 * Writes the file of a new provider and returns its path once it is on disk. Throws a `ProviderFileExists` if the provider has a file: it may
 * have been changed.
 */
export function createProviderFile(folder: string, id: string, text: string): string {
  // The id becomes a path.
  if (!providerIdPattern.test(id)) throw new Error(`"${id}" is no id of a provider`);
  const paths = extensions.map((extension) => join(folder, id + extension));
  // Two files of one provider would be an error at the next start.
  const existing = paths.find((path) => existsSync(path));
  if (existing !== undefined) throw new ProviderFileExists(existing);
  const [path = ""] = paths;
  mkdirSync(folder, { recursive: true });
  try {
    createFile(path, text);
  } catch (error) {
    const isTaken = errorCode(error) === "EEXIST";
    throw isTaken ? new ProviderFileExists(path) : error;
  }
  return path;
}

/** Removes a file that `createProviderFile` has just written. */
export function removeProviderFile(path: string): void {
  rmSync(path, { force: true });
}

/** The ids that the files of a folder give. Does not read the files, and never throws. */
export function providerFileIds(folder: string): readonly string[] {
  try {
    return filesIn(folder).map((path) => basename(path, extname(path)));
  } catch {
    return [];
  }
}

/** The id that a file's name gives. Throws a `FileError` if it cannot be one. */
export function providerIdOf(path: string, taken: readonly string[]): string {
  const id = basename(path, extname(path));
  if (taken.includes(id)) {
    throw new FileError(`${path}:1: ${id} is reserved: give the file another name`);
  }
  if (!providerIdPattern.test(id)) {
    throw new FileError(
      `${path}:1: the file's name is the provider's id: lower-case letters, digits and _, not "${id}"`,
    );
  }
  return id;
}

function filesIn(folder: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw new FileError(`${folder} cannot be read: ${errorMessage(error)}`);
  }
  const visible = names.filter((name) => !name.startsWith("."));
  const chosen = visible.filter((name) => extensions.includes(extname(name)));
  const mistyped = visible.find((name) => isMistyped(extname(name)));
  if (mistyped !== undefined) {
    throw new FileError(`${join(folder, mistyped)}:1: a provider file ends in .yaml or .json`);
  }
  return chosen.toSorted().map((name) => join(folder, name));
}

/** Such as `.yam` or `.YAML`: the file would be ignored without a word. */
function isMistyped(extension: string): boolean {
  return (
    extension !== "" &&
    !extensions.includes(extension) &&
    nearest(extension, [".yaml", ".json"], 1) !== null
  );
}

function textOf(path: string): string {
  try {
    if (statSync(path).size > maxFileCharacters) {
      throw new FileError(`${path}:1: the file is larger than ${maxFileCharacters} bytes`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(`${path}:1: the file cannot be read: ${errorMessage(error)}`);
  }
}
