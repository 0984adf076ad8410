import { join } from "node:path";

import { type Setting, settings } from "./config/settings.ts";
import type { ServerLimits } from "./storage/storage.ts";

type Settings = typeof settings;
type ValueOf<S> =
  S extends Setting<infer Value> ? (S extends { default: string } ? Value : Value | null) : never;
type Values = { readonly [Name in keyof Settings]: ValueOf<Settings[Name]> };

/** What the environment says, checked and frozen. */
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
};

/** A setting whose text is wrong. Its message is one line that names the key. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration. Throws a `ConfigError` on the first value that is wrong. */
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
    graphiql: graphiql ?? (isProduction ? "off" : "on"),
  };
  if ((config.operatorGatewayUrl === null) !== (config.operatorGatewaySecret === null)) {
    throw new ConfigError("OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET must be set together");
  }
  return Object.freeze(config);
}

function readSettings(env: Environment): Values {
  const values = Object.entries(settings).map(([name, setting]) => [name, read(setting, env)]);
  // Guarantee: each name has what its own setting's parser returns, or null where that has no default.
  return Object.fromEntries(values) as Values;
}

function read({ key, default: fallback, parse }: Setting<unknown>, env: Environment): unknown {
  const given = env[key]?.trim();
  const value = given === undefined || given === "" ? fallback : given;
  try {
    return value === null ? null : parse(value);
  } catch (error) {
    throw new ConfigError(`${key} must be ${error instanceof Error ? error.message : "valid"}`);
  }
}
