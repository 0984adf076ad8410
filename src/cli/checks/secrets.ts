import { existsSync } from "node:fs";

import type { Config, Environment } from "../../config/config.ts";
import {
  equalSecrets,
  leastSecretLength,
  type SecretPlace,
  secretPlaces,
  secretStore,
} from "../../config/secrets.ts";
import { providerById } from "../../gateway/providers/catalogue.ts";
import type { Secrets } from "../../gateway/signatures/signature.ts";
import { messageOf } from "../failures.ts";
import { programName } from "../program.ts";
import { notRead } from "../secret-warnings.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { checkMode } from "./folders.ts";

/** The webhook secret of every registered provider. Tells no part of any. */
export function checkSecrets(
  { providers, secretsDir }: Config,
  env: Environment,
): readonly Finding[] {
  const store = secretStore(env, secretsDir);
  const findings = providers.flatMap((id) => checkProvider(id, store, secretsDir, env));
  const isReadable = (id: string) =>
    !findings.some((one) => one.about === id && one.level === "bad");
  const pairs = equalSecrets(store, providers.filter(isReadable)).map(([one, other]) =>
    odd(one, `has the same secret as ${other}: a delivery of one verifies at the other`),
  );
  return [...findings, ...pairs];
}

function checkProvider(
  id: string,
  store: ReturnType<typeof secretStore>,
  secretsDir: string,
  env: Environment,
): readonly Finding[] {
  const { current, previous } = secretPlaces(id, secretsDir);
  let secrets: Secrets | null;
  try {
    secrets = store.webhookSecrets(id);
  } catch (error) {
    return [bad(id, messageOf(error))];
  }
  if (secrets === null) {
    return [
      bad(
        id,
        `no secret, so it answers 503: run \`${programName} secrets init\`, write ${current.file}, set ${current.variable}, or remove it from WEBHOOK_PROVIDERS`,
      ),
    ];
  }
  const sourceOf = ({ variable, file }: SecretPlace) =>
    env[variable] === undefined ? file : variable;
  const source = sourceOf(current);
  const faults = [
    ...store.unreadFiles(id).map((unread) => odd(id, notRead(unread))),
    ...sameFaults(id, source, sourceOf(previous), secrets),
    ...formFaults(id, source, secrets.current),
    ...(secrets.previous === null ? [] : formFaults(id, sourceOf(previous), secrets.previous)),
    ...[current, previous]
      .filter(({ variable, file }) => env[variable] === undefined && existsSync(file))
      .map(({ file }) => checkMode(id, file))
      .filter((finding) => finding !== null),
  ];
  if (faults.length > 0) return faults;
  const rotation = secrets.previous === null ? "" : "; the previous one is accepted too";
  return [good(id, `secret from ${source}${rotation}`)];
}

/** A rotation that is none: one of the two was put into a place that is not read, or not at all. */
function sameFaults(
  id: string,
  source: string,
  previousSource: string,
  { current, previous }: Secrets,
): readonly Finding[] {
  if (current !== previous) return [];
  const detail = `${previousSource} is the same as ${source}: put the new secret into ${source}, or remove ${previousSource}`;
  return [bad(id, detail)];
}

function formFaults(id: string, source: string, secret: string): readonly Finding[] {
  const faults: Finding[] = [];
  if (secret.trim() !== secret) {
    faults.push(odd(id, `${source} has white space around it, which counts: take it off`));
  }
  if (/^(["']).*\1$/.test(secret.trim())) {
    faults.push(odd(id, `${source} starts and ends with a quote, which counts: take both off`));
  }
  if (secret.trim().length < leastSecretLength) {
    faults.push(odd(id, `${source} has fewer than ${leastSecretLength} characters: is it whole?`));
  }
  const prefix = providerById(id)?.secretPrefix ?? "";
  if (!secret.trim().startsWith(prefix)) {
    faults.push(
      odd(id, `${source} does not begin with ${prefix}: take the secret that signs this webhook`),
    );
  }
  return faults;
}
