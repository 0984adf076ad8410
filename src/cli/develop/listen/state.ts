import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { isObject } from "../../../base/payload.ts";
import { makePrivateFolder, writePrivately } from "../../../base/private-file.ts";
import { exclusiveLock } from "../../../db/sqlite/server-lock.ts";
import type { DevelopmentSecret } from "../../../inbound/signatures/development-secret.ts";

/** What a listener remembers between its runs. */
interface ListenerState {
  /** The position of the last delivery that the local address answered; null before the first run. */
  readonly seq: number | null;
  /** The throwaway secrets, by provider, so that the local program's settings stay valid. */
  readonly secrets: Readonly<Record<string, DevelopmentSecret>>;
}

/** A listener's state in a file, which no other listener can use meanwhile. */
export interface StateFile {
  readonly path: string;
  readonly current: ListenerState;
  save(changed: Partial<ListenerState>): void;
  release(): void;
}

const empty: ListenerState = { seq: null, secrets: {} };

/** Opens a listener's state. Throws if another process uses it, or if it is not readable. */
export function openState(path: string): StateFile {
  makePrivateFolder(dirname(path));
  const lock = exclusiveLock(`${path}.lock`);
  if (lock === null) {
    throw new Error(
      `Another listener uses ${path}. Stop it, or pass --state with another file: then both get every delivery`,
    );
  }
  let current = read(path);
  return {
    path,
    get current() {
      return current;
    },
    save(changed) {
      current = { ...current, ...changed };
      writePrivately(path, `${JSON.stringify(current)}\n`);
    },
    release: () => lock.release(),
  };
}

function read(path: string): ListenerState {
  if (!existsSync(path)) return empty;
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isObject(value)) throw new Error("it is not an object");
    const { seq, secrets } = value;
    if (seq !== null && !(typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0))
      throw new Error("seq is not a position");
    return { seq, secrets: isObject(secrets) ? secretsIn(secrets) : {} };
  } catch (error) {
    throw new Error(`${path} is not the state of a listener. Pass another file with --state`, {
      cause: error,
    });
  }
}

function secretsIn(value: Readonly<Record<string, unknown>>): ListenerState["secrets"] {
  const found: Record<string, DevelopmentSecret> = {};
  for (const [provider, stored] of Object.entries(value)) {
    if (!isObject(stored) || typeof stored["secret"] !== "string") continue;
    const { secret, privateKey } = stored;
    found[provider] = { secret, privateKey: typeof privateKey === "string" ? privateKey : null };
  }
  return found;
}

/** The file of a listener: one for each server, local address and filter. */
export function defaultStateFile(identity: readonly string[], env: NodeJS.ProcessEnv): string {
  const base = env["XDG_STATE_HOME"] || join(env["HOME"] || homedir(), ".local", "state");
  const name = Bun.SHA256.hash(JSON.stringify(identity), "hex").slice(0, 16);
  return join(base, "skyhook", `listen-${name}.json`);
}
