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
import { messageOf } from "../errors.ts";
import { programName } from "../program.ts";
import { notRead } from "../secret-warnings.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { checkMode } from "./folders.ts";

/** Checks the webhook secret of every registered provider. Never prints a secret. */
export function checkSecrets(
  { providers, secretsDir }: Config,
  env: Environment,
): readonly Finding[] {
  const store = secretStore(env, secretsDir);
  const findings = providers.flatMap((id) => checkProvider(id, store, secretsDir, env));
  const isReadable = (id: string) =>
    !findings.some((one) => one.about === id && one.level === "bad");
  const pairs = equalSecrets(store, providers.filter(isReadable)).map(([one, other]) =>
    odd(one, `has the same secret as ${other}: a delivery for one verifies at the other`),
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
  const findings = [
    ...store.unreadFiles(id).map((unread) => odd(id, notRead(unread))),
    ...sameSecretFindings(id, source, sourceOf(previous), secrets),
    ...formFindings(id, source, secrets.current),
    ...(secrets.previous === null ? [] : formFindings(id, sourceOf(previous), secrets.previous)),
    ...[current, previous]
      .filter(({ variable, file }) => env[variable] === undefined && existsSync(file))
      .map(({ file }) => checkMode(id, file))
      .filter((finding) => finding !== null),
  ];
  if (findings.length > 0) return findings;
  const rotation = secrets.previous === null ? "" : "; the previous one is also accepted";
  return [good(id, `secret from ${source}${rotation}`)];
}

/** Equal secrets: the new one was not stored, or in a place that is not read. */
function sameSecretFindings(
  id: string,
  source: string,
  previousSource: string,
  { current, previous }: Secrets,
): readonly Finding[] {
  if (current !== previous) return [];
  const detail = `${previousSource} is the same as ${source}: put the new secret into ${source}, or remove ${previousSource}`;
  return [bad(id, detail)];
}

function formFindings(id: string, source: string, secret: string): readonly Finding[] {
  const findings: Finding[] = [];
  if (secret.trim() !== secret) {
    findings.push(
      odd(id, `${source} has white space around it, which is part of the secret: remove it`),
    );
  }
  if (/^(["']).*\1$/.test(secret.trim())) {
    findings.push(
      odd(id, `${source} starts and ends with a quote, which is part of the secret: remove both`),
    );
  }
  if (secret.trim().length < leastSecretLength) {
    findings.push(
      odd(
        id,
        `${source} has fewer than ${leastSecretLength} characters: check that it is complete`,
      ),
    );
  }
  const prefix = providerById(id)?.secretPrefix ?? "";
  if (!secret.trim().startsWith(prefix)) {
    findings.push(
      odd(id, `${source} does not begin with ${prefix}: use the signing secret of this webhook`),
    );
  }
  return findings;
}
