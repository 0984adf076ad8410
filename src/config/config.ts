import { join } from "node:path";

import { type Setting, settings } from "./settings.ts";
import type { ServerLimits } from "../db/storage.ts";

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

/** Settings or secrets that are wrong: a line for each, which names it and says what to write. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(...faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** Does all of it, also after a `ConfigError`. Throws one with all that was wrong. */
export function allOrFaults<const Reads extends readonly (() => unknown)[]>(
  reads: Reads,
): { readonly [Index in keyof Reads]: ReturnType<Reads[Index]> } {
  const values: unknown[] = [];
  const faults = new Set<string>();
  for (const read of reads) {
    try {
      values.push(read());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const fault of error.faults) faults.add(fault);
    }
  }
  if (faults.size > 0) throw new ConfigError(...faults);
  // Guarantee: there was no fault, so each of them has given its value.
  return values as { readonly [Index in keyof Reads]: ReturnType<Reads[Index]> };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration. Throws a `ConfigError` that names every value that is wrong. */
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
  return Object.freeze(config);
}

function readSettings(env: Environment): Values {
  const reads = Object.entries<Setting<unknown>>(settings).map(
    ([name, setting]) =>
      () =>
        [name, readSetting(setting, env)] as const,
  );
  const [entries] = allOrFaults([() => allOrFaults(reads), () => requireBothOfGateway(env)]);
  // Guarantee: each name has what its own setting's parser returns, or null where that has no default.
  return Object.fromEntries(entries) as Values;
}

function requireBothOfGateway(env: Environment): void {
  const { operatorGatewayUrl: url, operatorGatewaySecret: secret } = settings;
  const isSet = ({ key }: Setting<unknown>) => (env[key]?.trim() ?? "") !== "";
  if (isSet(url) === isSet(secret)) return;
  throw new ConfigError(`${url.key} and ${secret.key} must be set together`);
}

/** What one setting is. Throws a `ConfigError` when its text is wrong. */
export function readSetting<Value>(setting: Setting<Value>, env: Environment): Value | null {
  const { key, default: fallback, parse } = setting;
  const given = env[key]?.trim();
  const value = given === undefined || given === "" ? fallback : given;
  try {
    return value === null ? null : parse(value);
  } catch (error) {
    throw new ConfigError(`${key} must be ${error instanceof Error ? error.message : "valid"}`);
  }
}
