import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { Config } from "../../config/config.ts";
import { tokenKey, tokenKeyFile } from "../../config/secrets.ts";
import { databaseFile } from "../../db/open.ts";
import { isInMemory } from "../database.ts";
import { codeOf, messageOf } from "../failures.ts";
import { ownKeys } from "../keys.ts";

import { bad, type Finding, good, odd } from "./finding.ts";

/** The data folder, and the key for access tokens that may lie in it. */
export function checkFolders(config: Config): readonly Finding[] {
  return [checkDataFolder(config), checkTokenKey(config)];
}

function checkDataFolder(config: Config): Finding {
  const about = "data folder";
  const { dataDir } = config;
  if (!isUsed(config))
    return good(about, `${dataDir} is not needed: database and keys are elsewhere`);
  let isThere: boolean;
  try {
    isThere = isPresent(dataDir);
    if (isThere && !statSync(dataDir).isDirectory()) return bad(about, `${dataDir} is no folder`);
    accessSync(isThere ? dataDir : nearestFolder(dataDir), constants.W_OK | constants.X_OK);
  } catch (error) {
    return bad(about, `${dataDir} cannot be written (${messageOf(error)}): set DATA_DIR`);
  }
  if (!isThere) return odd(about, `${dataDir} is not made yet: the first start makes it`);
  return good(about, `${dataDir} can be written`);
}

/** Nothing is kept in it where the database is a server and all keys are given. */
function isUsed(config: Config): boolean {
  const isServer = databaseFile(config.databaseUrl) === null && !isInMemory(config);
  return !isServer || ownKeys(config).length > 0;
}

/** Whether there is something of that name. Throws when this user cannot know. */
export function isPresent(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

/** The folder in which a missing one would be made. */
function nearestFolder(path: string): string {
  const parent = dirname(resolve(path));
  return existsSync(parent) ? parent : nearestFolder(parent);
}

function checkTokenKey(config: Config): Finding {
  const { jwtSecret, dataDir } = config;
  const about = "token key";
  if (jwtSecret !== null) return good(about, "JWT_SECRET is set");
  const own = ownKeys(config).find(({ variable }) => variable === "JWT_SECRET");
  if (own !== undefined) return odd(about, own.detail);
  const file = tokenKeyFile(dataDir);
  try {
    if (!isPresent(file)) return good(about, "is made at the first start");
    tokenKey(null, dataDir);
  } catch (error) {
    return bad(about, messageOf(error));
  }
  return checkMode(about, file) ?? good(about, `${file} is there`);
}

/** A finding when others on this machine can read a secret file; null when all is well. */
export function checkMode(about: string, file: string): Finding | null {
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o004) === 0) return null;
  return odd(about, `everyone on this machine can read ${file}: chmod 600 ${file}`);
}
