import { existsSync } from "node:fs";

import { type Config, type Environment, findSetting } from "../config/config.ts";
import { personalDataKeyPlaces, secretPlaces, tokenKeyFile } from "../config/secrets.ts";
import { settings } from "../config/settings.ts";
import { databaseFile } from "../db/open.ts";

import { isInMemory } from "./database.ts";

/** A key that a backup of the database does not hold, where it is now, and what it is needed for. */
export interface KeyBeside {
  readonly place: string;
  readonly use: string;
}

/** All of them. Tells no part of any, and makes none. */
export function keysBeside(config: Config, env: Environment): readonly KeyBeside[] {
  const webhookSecrets = config.providers.flatMap((id) =>
    Object.values(secretPlaces(id, config.secretsDir)).flatMap(
      ({ variable, file }) => placeOf({ variable, files: [file] }, env) ?? [],
    ),
  );
  const personal = personalDataKeysAt(config, env).map((place) => ({
    place,
    use: "opens birth dates and passports: without it they are lost",
  }));
  const token =
    findSetting(settings.jwtSecret, env)?.source ?? existing(tokenKeyFile(config.dataDir));
  return [
    ...personal,
    ...(token === null ? [] : [{ place: token, use: "without it every access token ends" }]),
    ...webhookSecrets.map((place) => ({ place, use: "can be had again from its provider" })),
  ];
}

/** Where keys for personal data are; none, before the first start has made one. */
export function personalDataKeysAt(
  { secretsDir, dataDir }: Config,
  env: Environment,
): readonly string[] {
  const { current, previous } = personalDataKeyPlaces(secretsDir, dataDir);
  return [placeOf(current, env), placeOf(previous, env)].filter((found) => found !== null);
}

function placeOf(
  { variable, files }: { readonly variable: string; readonly files: readonly string[] },
  env: Environment,
): string | null {
  if (env[variable] !== undefined) return variable;
  return files.find((file) => existsSync(file)) ?? null;
}

function existing(file: string): string | null {
  return existsSync(file) ? file : null;
}

/**
 * What is wrong with keys that this instance made for itself, on a database that it may share with
 * others: by the variable that would give it the same one.
 */
export function ownKeys({ databaseUrl, ...config }: Config): readonly OwnKey[] {
  if (databaseFile(databaseUrl) !== null || isInMemory({ databaseUrl })) return [];
  const { secretsDir, dataDir } = config;
  const [given = "", made = ""] = personalDataKeyPlaces(secretsDir, dataDir).current.files;
  return [
    ...(config.personalDataKey === null ? [personalOwn(given, made)] : []),
    ...(config.jwtSecret === null ? [tokenOwn(tokenKeyFile(dataDir))] : []),
  ];
}

/** A key that is not given to all instances alike. */
interface OwnKey {
  readonly variable: "PERSONAL_DATA_KEY" | "JWT_SECRET";
  readonly detail: string;
}

const personalOwn = (given: string, made: string): OwnKey => ({
  variable: "PERSONAL_DATA_KEY",
  detail: `PERSONAL_DATA_KEY is not set, so passports are sealed with ${made}, which no other instance on this database has, and are lost with it: give all instances the same one, there or as ${given}`,
});

const tokenOwn = (made: string): OwnKey => ({
  variable: "JWT_SECRET",
  detail: `JWT_SECRET is not set, so access tokens are signed with ${made}, and other instances on this database refuse them: give all instances the same one`,
});
