import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Config } from "../config.ts";
import { personalDataKeyFile, secretPlaces, tokenKeyFile } from "../secrets.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A key that a backup of the database does not hold, where it is now, and what it is needed for. */
export interface KeyBeside {
  readonly place: string;
  readonly use: string;
}

/** All of them. Tells no part of any, and makes none. */
export function keysBeside(config: Config, env: Env): readonly KeyBeside[] {
  const webhookSecrets = config.providers.flatMap((id) =>
    Object.values(secretPlaces(id, config.secretsDir)).flatMap(
      (place) => placeOf(place, env) ?? [],
    ),
  );
  const personal = personalDataKeyPlaces(config, env).map((place) => ({
    place,
    use: "opens birth dates and passports: without it they are lost",
  }));
  const token = config.jwtSecret === null ? existing(tokenKeyFile(config.dataDir)) : "JWT_SECRET";
  return [
    ...personal,
    ...(token === null ? [] : [{ place: token, use: "without it every access token ends" }]),
    ...webhookSecrets.map((place) => ({ place, use: "can be had again from its provider" })),
  ];
}

/** Where keys for personal data are; none, before the first start has made one. */
export function personalDataKeyPlaces(
  { secretsDir, dataDir }: Config,
  env: Env,
): readonly string[] {
  const place = (name: string) =>
    placeOf({ variable: name.toUpperCase(), file: join(secretsDir, name) }, env);
  const current = place("personal_data_key") ?? existing(personalDataKeyFile(dataDir));
  return [current, place("personal_data_key_previous")].filter((found) => found !== null);
}

function placeOf(place: { variable: string; file: string }, env: Env): string | null {
  return env[place.variable] === undefined ? existing(place.file) : place.variable;
}

function existing(file: string): string | null {
  return existsSync(file) ? file : null;
}
