import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { errorCode } from "../../../base/errors.ts";
import { type Config, findSetting } from "../../../config/config.ts";
import { tokenKey, tokenKeyFile } from "../../../config/secrets.ts";
import type { Setting } from "../../../config/setting.ts";
import { settings } from "../../../config/settings.ts";
import { databaseFile } from "../../../db/open.ts";
import { isInMemory } from "../../kit/database.ts";
import { messageOf } from "../../kit/errors.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { ownKeys } from "./keys.ts";

/** Checks the data folder, and secrets that are files in it or in SECRETS_DIR. */
export function checkFolders(config: Config, env: NodeJS.ProcessEnv): readonly Finding[] {
  return [
    checkDataFolder(config),
    checkTokenKey(config, env),
    ...checkSettingFile(settings.databaseUrl, env),
    ...checkSettingFile(settings.operatorGatewaySecret, env),
  ];
}

/** A finding if the setting is a file that others can read. */
function checkSettingFile(
  setting: Setting<unknown>,
  env: NodeJS.ProcessEnv,
  about = setting.key,
): readonly Finding[] {
  const { key } = setting;
  const source = findSetting(setting, env)?.source ?? key;
  const finding = source === key ? null : checkMode(about, source);
  return finding === null ? [] : [finding];
}

function checkDataFolder(config: Config): Finding {
  const about = "data folder";
  const { dataDir } = config;
  if (!isUsed(config))
    return good(about, `${dataDir} is not used: database and keys are elsewhere`);
  let isThere: boolean;
  try {
    isThere = isPresent(dataDir);
    if (isThere && !statSync(dataDir).isDirectory())
      return bad(about, `${dataDir} is not a folder: set DATA_DIR`);
    accessSync(isThere ? dataDir : nearestFolder(dataDir), constants.W_OK | constants.X_OK);
  } catch (error) {
    return bad(about, `${dataDir} is not writable (${messageOf(error)}): set DATA_DIR`);
  }
  if (!isThere) return odd(about, `${dataDir} does not exist yet: the first start creates it`);
  return good(about, `${dataDir} is writable`);
}

/** The data folder is not used if the database is a server and all keys are configured. */
function isUsed(config: Config): boolean {
  const isServer = databaseFile(config.databaseUrl) === null && !isInMemory(config);
  return !isServer || ownKeys(config).length > 0;
}

/** Whether a path exists. Throws if this user has no permission to know. */
export function isPresent(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

/** The nearest existing parent, where a missing folder would be created. */
function nearestFolder(path: string): string {
  const parent = dirname(resolve(path));
  return existsSync(parent) ? parent : nearestFolder(parent);
}

function checkTokenKey(config: Config, env: NodeJS.ProcessEnv): Finding {
  const { dataDir } = config;
  const about = "token key";
  const given = findSetting(settings.jwtSecret, env);
  if (given !== null) {
    const [finding] = checkSettingFile(settings.jwtSecret, env, about);
    return finding ?? good(about, `from ${given.source}`);
  }
  const own = ownKeys(config).find(({ variable }) => variable === "JWT_SECRET");
  if (own !== undefined) return odd(about, own.detail);
  const file = tokenKeyFile(dataDir);
  try {
    if (!isPresent(file)) return good(about, "created at the first start");
    tokenKey(null, dataDir);
  } catch (error) {
    return bad(about, messageOf(error));
  }
  return checkMode(about, file) ?? good(about, `${file} exists`);
}

/** A finding if every user of this machine can read a secret file; else null. */
export function checkMode(about: string, file: string): Finding | null {
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o004) === 0) return null;
  return odd(about, `every user of this machine can read ${file}: chmod 600 ${file}`);
}
