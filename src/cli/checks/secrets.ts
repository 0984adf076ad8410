import { existsSync } from "node:fs";

import type { Config } from "../../config.ts";
import { equalSecrets, secretPlaces, secretStore } from "../../secrets.ts";
import type { Secrets } from "../../webhooks/signature.ts";
import { messageOf } from "../failures.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { checkMode } from "./folders.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Shorter ones can be guessed. */
const leastLength = 16;

/** The webhook secret of every registered provider. Tells no part of any. */
export function checkSecrets({ providers, secretsDir }: Config, env: Env): readonly Finding[] {
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
  env: Env,
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
        `has no secret, so it answers 503: set ${current.variable} or write ${current.file}, or leave it out of WEBHOOK_PROVIDERS`,
      ),
    ];
  }
  const fromEnv = env[current.variable] !== undefined;
  const source = fromEnv ? current.variable : current.file;
  const faults = [
    ...formFaults(id, source, secrets.current),
    ...[current, previous]
      .filter(({ variable, file }) => env[variable] === undefined && existsSync(file))
      .map(({ file }) => checkMode(id, file))
      .filter((finding) => finding !== null),
  ];
  if (faults.length > 0) return faults;
  const rotation = secrets.previous === null ? "" : "; the previous one is accepted too";
  return [good(id, `secret from ${source}${rotation}`)];
}

function formFaults(id: string, source: string, secret: string): readonly Finding[] {
  const faults: Finding[] = [];
  if (secret.trim() !== secret) {
    faults.push(odd(id, `${source} has white space around it, which counts: take it off`));
  }
  if (secret.trim().length < leastLength) {
    faults.push(odd(id, `${source} has fewer than ${leastLength} characters: is it whole?`));
  }
  if (id === "payment_processor" && !secret.trim().startsWith("whsec_")) {
    faults.push(
      odd(id, `${source} does not begin with whsec_: take the endpoint's signing secret`),
    );
  }
  return faults;
}
