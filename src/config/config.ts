import { join } from "node:path";

import { errorMessage } from "../base/errors.ts";
import { isLoopback } from "../base/loopback.ts";
import type { ServerLimits } from "../db/storage.ts";
import type { Platform } from "../outbound/transports/transport.ts";

import { collectErrors, ConfigError } from "./errors.ts";
import { type FoundText, readSecretFile } from "./secret-file.ts";
import type { Setting } from "./setting.ts";
import { settings } from "./settings.ts";

type Settings = typeof settings;
type ValueOf<S> =
  S extends Setting<infer Value> ? (S extends { default: string } ? Value : Value | null) : never;
type Values = { readonly [Name in keyof Settings]: ValueOf<Settings[Name]> };

/** The configuration: validated and frozen. */
export type Config = Omit<
  Values,
  | "databaseUrl"
  | "databasePoolSize"
  | "databaseConnectTimeoutMs"
  | "databaseStatementTimeoutMs"
  | "databaseRetryMs"
  | "graphiql"
> & {
  readonly databaseUrl: string;
  readonly databaseLimits: ServerLimits;
  readonly graphiql: "on" | "off";
  /** The variables that the platform sets, such as AWS_ROLE_ARN: no settings, and read only by destinations that need them. */
  readonly platform: Platform;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration. Throws a `ConfigError` that names every invalid value. */
export function readConfig(env: Environment): Config {
  const {
    databaseUrl,
    databasePoolSize,
    databaseConnectTimeoutMs,
    databaseStatementTimeoutMs,
    databaseRetryMs,
    graphiql,
    ...others
  } = readSettings(env);
  const isProduction = env["NODE_ENV"]?.trim() === "production";
  const config: Config = {
    ...others,
    databaseUrl: databaseUrl ?? `sqlite:${join(others.dataDir, "skyhook.db")}`,
    databaseLimits: {
      poolSize: databasePoolSize,
      connectTimeoutMs: databaseConnectTimeoutMs,
      statementTimeoutMs: databaseStatementTimeoutMs,
      retryMs: databaseRetryMs,
    },
    platform: Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("AWS_"))),
    graphiql: graphiql ?? (isProduction ? "off" : "on"),
  };
  return Object.freeze(config);
}

function readSettings(env: Environment): Values {
  const reads = Object.entries<Setting<unknown>>(settings).map(
    ([name, setting]) =>
      () =>
        [name, readSetting(setting, env)] as const,
  );
  const [entries] = collectErrors([
    () => collectErrors(reads),
    () => requireBothOfGateway(env),
    () => requireTokenForHook(env),
    () => requireAllOfOidc(env),
  ]);
  // Guarantee: the value of each name comes from the parser of that setting; null only without a default.
  return Object.fromEntries(entries) as Values;
}

function requireBothOfGateway(env: Environment): void {
  const { operatorGatewayUrl: url, operatorGatewaySecret: secret } = settings;
  if ((findSetting(url, env) === null) === (findSetting(secret, env) === null)) return;
  throw new ConfigError(`${url.key} and ${secret.key} must be set together`);
}

function requireTokenForHook(env: Environment): void {
  const { codeHostHook: hook, codeHostApiToken: token } = settings;
  if (findSetting(hook, env) === null || findSetting(token, env) !== null) return;
  throw new ConfigError(`${hook.key} needs ${token.key}: set it, or remove ${hook.key}`);
}

function requireAllOfOidc(env: Environment): void {
  const { oidcIssuer: issuer, oidcClientId, oidcClientSecret, publicUrl } = settings;
  if (findSetting(issuer, env) === null) return;
  for (const { key, ...needed } of [oidcClientId, oidcClientSecret, publicUrl]) {
    if (findSetting({ key, ...needed }, env) === null)
      throw new ConfigError(`${issuer.key} needs ${key}: set it, or remove ${issuer.key}`);
  }
  const url = readSetting(publicUrl, env) ?? "";
  if (url.startsWith("https:") || isLoopback(url)) return;
  throw new ConfigError(`${publicUrl.key} must be https with ${issuer.key}, or of this machine`);
}

/** Reads one setting. Throws a `ConfigError` if its text is invalid. */
export function readSetting<Value>(setting: Setting<Value>, env: Environment): Value | null {
  const { key, default: fallback, parse } = setting;
  const { source, text } = findSetting(setting, env) ?? { source: key, text: fallback };
  try {
    return text === null ? null : parse(text);
  } catch (error) {
    throw new ConfigError(`${source} must be ${errorMessage(error)}`);
  }
}

/**
 * Finds the text of a setting in the environment or, if it may be a file, in `SECRETS_DIR`. Null if it is not set.
 * Blank variables count as not set.
 */
export function findSetting({ key, isFile }: Setting<unknown>, env: Environment): FoundText | null {
  const text = env[key]?.trim() ?? "";
  if (text !== "") return { source: key, text };
  if (!isFile) return null;
  return readSecretFile(join(readSetting(settings.secretsDir, env) ?? "", key.toLowerCase()));
}
