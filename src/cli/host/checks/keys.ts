import { existsSync } from "node:fs";

import { type Config, type Environment, findSetting } from "../../../config/config.ts";
import { registeredProviders } from "../../../config/providers.ts";
import { personalDataKeyPlaces, secretPlaces, tokenKeyFile } from "../../../config/secrets.ts";
import { settings } from "../../../config/settings.ts";
import { databaseFile } from "../../../db/open.ts";
import { isInMemory } from "../../kit/database.ts";

/** A key that a backup of the database does not contain: its place and its purpose. */
interface KeyBeside {
  readonly place: string;
  readonly use: string;
}

/** All such keys. Never reveals a key, and creates none. */
export function keysBeside(config: Config, env: Environment): readonly KeyBeside[] {
  const webhookSecrets = registeredProviders(config).flatMap(({ id }) =>
    Object.values(secretPlaces(id, config.secretsDir)).flatMap(
      ({ variable, file }) => placeOf({ variable, files: [file] }, env) ?? [],
    ),
  );
  const personal = personalDataKeysAt(config, env).map((place) => ({
    place,
    use: "decrypts birth dates and passports, which are lost without it",
  }));
  const token =
    findSetting(settings.jwtSecret, env)?.source ?? existing(tokenKeyFile(config.dataDir));
  return [
    ...personal,
    ...(token === null
      ? []
      : [{ place: token, use: "verifies access tokens, which become invalid without it" }]),
    ...webhookSecrets.map((place) => ({ place, use: "also available from the provider" })),
  ];
}

/** The places of the keys for personal data; empty before the first start creates one. */
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
 * The keys that this instance created for itself although it may share its database with others, by the
 * variable that gives all instances the same key.
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

/** A key that other instances do not have. */
interface OwnKey {
  readonly variable: "PERSONAL_DATA_KEY" | "JWT_SECRET";
  readonly detail: string;
}

const personalOwn = (given: string, made: string): OwnKey => ({
  variable: "PERSONAL_DATA_KEY",
  detail: `PERSONAL_DATA_KEY is not set: passports are encrypted with ${made}, which other instances on this database do not have and without which passports are lost. Give all instances the same key, as a variable or as ${given}`,
});

const tokenOwn = (made: string): OwnKey => ({
  variable: "JWT_SECRET",
  detail: `JWT_SECRET is not set: access tokens are signed with ${made}, and other instances on this database reject them. Give all instances the same one`,
});
