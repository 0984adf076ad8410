import { nearest } from "../base/nearest.ts";
import { catalogue } from "../inbound/providers/catalogue.ts";
import { providerFileIds } from "../inbound/providers/files/folder.ts";

import { readSetting } from "./config.ts";
import { personalDataKeyPlaces, secretPlaces } from "./secrets.ts";
import { settings } from "./settings.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Shorter names are too similar to those of other programs: PORT and PATH, HOST and HOME. */
const leastLength = 8;
const maxEdits = 2;

/** Warns of each variable whose name is close to that of a setting or secret that is not set. */
export function misspeltSettings(env: Env): readonly string[] {
  const known = knownVariables(providerFileIds(readSetting(settings.providersDir, env) ?? ""));
  const missing = known.filter((name) => name.length >= leastLength && env[name] === undefined);
  return Object.keys(env)
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const closest = nearest(name, missing, maxEdits);
      return closest === null ? [] : `${name} is ignored: did you mean ${closest}?`;
    });
}

function knownVariables(fileIds: readonly string[]): readonly string[] {
  const places = [
    ...catalogue.map(({ id }) => secretPlaces(id, "")),
    ...fileIds.map((id) => secretPlaces(id, "")),
    personalDataKeyPlaces("", ""),
  ].flatMap(({ current, previous }) => [current, previous]);
  return [...Object.values(settings).map(({ key }) => key), ...places.map((each) => each.variable)];
}
