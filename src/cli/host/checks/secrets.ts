import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { programName } from "../../../base/program-name.ts";
import type { Config, Environment } from "../../../config/config.ts";
import { ConfigError } from "../../../config/errors.ts";
import { registeredProviders } from "../../../config/providers.ts";
import {
  equalSecrets,
  type SecretPlace,
  secretPlaces,
  secretStore,
  usableSecrets,
} from "../../../config/secrets.ts";
import { loadCatalogue } from "../../../inbound/onboarding/catalogue-entries.ts";
import { catalogue } from "../../../inbound/providers/catalogue.ts";
import type { Provider } from "../../../inbound/providers/provider.ts";
import { canMakeSecret } from "../../../inbound/signatures/development-secret.ts";
import { schemeName } from "../../../inbound/signatures/scheme-name.ts";
import { hasSharedSecret, isWeak, signsUrl } from "../../../inbound/signatures/scheme.ts";
import type { Secrets } from "../../../inbound/signatures/signed-request.ts";
import { isDocumentedSecret, leastSecretLength } from "../../../inbound/signatures/weak-secret.ts";
import { messageOf } from "../../kit/errors.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { checkMode } from "./folders.ts";
import { notRead } from "./secret-warnings.ts";

/** Checks the webhook secret of every registered provider. Never prints a secret. */
export async function checkSecrets(config: Config, env: Environment): Promise<readonly Finding[]> {
  const { secretsDir } = config;
  const store = secretStore(env, secretsDir);
  let providers: readonly Provider[];
  try {
    providers = registeredProviders(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.messages.map((message) => bad("provider files", message));
  }
  const findings = providers.flatMap((each) => [
    ...checkProvider(each, store, secretsDir, env),
    ...checkPublicUrl(each, config),
  ]);
  const isReadable = ({ id }: Provider) =>
    !findings.some((one) => one.about === id && one.level === "bad");
  const pairs = equalSecrets(store, providers.filter(isReadable)).map(([one, other]) =>
    odd(one, `has the same secret as ${other}: a delivery for one verifies at the other`),
  );
  return [
    ...findings,
    ...pairs,
    ...(await unreadFindings(config, providers, env)),
    ...checkTestMode(config),
  ];
}

/** Secrets of providers that are not registered: nothing reads them, and their routes answer 404. */
async function unreadFindings(
  { secretsDir, providers: chosen }: Config,
  providers: readonly Provider[],
  env: Environment,
): Promise<readonly Finding[]> {
  const { catalogueFiles } = await loadCatalogue();
  const files = existsSync(secretsDir) ? readdirSync(secretsDir) : [];
  const found = [
    ...files.map((name) => ({ name: name.toLowerCase(), source: join(secretsDir, name) })),
    ...Object.keys(env).map((name) => ({ name: name.toLowerCase(), source: name })),
  ];
  return found.flatMap(({ name, source }) => {
    const id = /^(.+)_webhook_secret(?:_previous)?$/.exec(name)?.[1];
    if (id === undefined || providers.some((provider) => provider.id === id)) return [];
    const advice = isBuiltIn(id)
      ? `set WEBHOOK_PROVIDERS=${[...chosen, id].join(",")} and restart the server`
      : Object.hasOwn(catalogueFiles, id)
        ? `run \`${programName} provider add ${id}\``
        : "no provider has this id: remove it";
    return [odd(id, `is not registered, so nothing reads ${source}: ${advice}`)];
  });
}

const isBuiltIn = (name: string) => catalogue.some(({ id }) => id === name);

/** Test payments cost nothing, so beside a live account they give seats away. */
function checkTestMode(config: Config): readonly Finding[] {
  const { paymentProcessorTestMode: isOn, paymentProcessorApiToken: token } = config;
  if (!isOn) return [];
  const about = "test payments";
  if (!/^[sr]k_live_/.test(token ?? "")) return [good(about, "confirm bookings: test mode is on")];
  const detail =
    "confirm bookings, but PAYMENT_PROCESSOR_API_TOKEN is a live key: unset PAYMENT_PROCESSOR_TEST_MODE";
  return [odd(about, detail)];
}

/** A provider that signs its URL needs to be known by that URL. */
function checkPublicUrl({ id, signature }: Provider, { publicUrl }: Config): readonly Finding[] {
  if (publicUrl !== null || !signsUrl(signature)) return [];
  const detail =
    "signs the URL: behind a proxy, set PUBLIC_URL to the base URL that is entered at the service";
  return [odd(id, detail)];
}

function checkProvider(
  provider: Provider,
  store: ReturnType<typeof secretStore>,
  secretsDir: string,
  env: Environment,
): readonly Finding[] {
  const { id, path } = provider;
  const { current, previous } = secretPlaces(id, secretsDir);
  let secrets: Secrets | null;
  try {
    secrets = usableSecrets(provider, store, secretsDir, env);
  } catch (error) {
    return [bad(id, messageOf(error))];
  }
  if (secrets === null) {
    return [
      bad(
        id,
        `no secret, so it answers 503: ${canMakeSecret(provider.signature) ? `run \`${programName} secrets init\`, ` : ""}write ${current.file}, set ${current.variable}, or remove ${path ?? "it from WEBHOOK_PROVIDERS"}`,
      ),
    ];
  }
  const sourceOf = ({ variable, file }: SecretPlace) =>
    env[variable] === undefined ? file : variable;
  const source = sourceOf(current);
  const findings = [
    ...store.unreadFiles(id).map((unread) => odd(id, notRead(unread))),
    ...sameSecretFindings(id, source, sourceOf(previous), secrets),
    ...formFindings(provider, source, secrets.current),
    ...(secrets.previous === null
      ? []
      : formFindings(provider, sourceOf(previous), secrets.previous)),
    ...[current, previous]
      .filter(({ variable, file }) => env[variable] === undefined && existsSync(file))
      .map(({ file }) => checkMode(id, file))
      .filter((finding) => finding !== null),
  ];
  if (findings.length > 0) return findings;
  const rotation = secrets.previous === null ? "" : "; the previous one is also accepted";
  const weaker = isWeak(provider.signature) ? `; ${schemeName(provider.signature)}` : "";
  return [good(id, `secret from ${source}${rotation}${weaker}`)];
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

function formFindings(
  { id, signature, secretPrefix: prefix = "" }: Provider,
  source: string,
  secret: string,
): readonly Finding[] {
  // A public key is checked by reading it.
  if (!hasSharedSecret(signature)) return [];
  const text = secret.trim();
  const troubles: readonly (readonly [boolean, string])[] = [
    [text !== secret, "has white space around it, which is part of the secret: remove it"],
    [
      /^(["']).*\1$/.test(text),
      "starts and ends with a quote, which is part of the secret: remove both",
    ],
    [
      text.length < leastSecretLength,
      `has fewer than ${leastSecretLength} characters: check that it is complete`,
    ],
    [
      isDocumentedSecret(secret),
      "is an example from documentation: use the secret of this webhook",
    ],
    [
      !text.startsWith(prefix),
      `does not begin with ${prefix}: use the signing secret of this webhook`,
    ],
  ];
  return troubles.filter(([isFound]) => isFound).map(([, what]) => odd(id, `${source} ${what}`));
}
