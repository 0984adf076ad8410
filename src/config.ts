import { join } from "node:path";

import type { ServerLimits } from "./storage/storage.ts";
import { catalogue, defaultProviders } from "./webhooks/providers.ts";

/** One setting: where it comes from, what it is when unset, what it means, and how its text is read. */
interface Setting<Value> {
  readonly key: string;
  /** As text, so that it goes through the same parser and can be printed. Null: unset has a meaning. */
  readonly default: string | null;
  readonly doc: string;
  /** Printed as `(set)` instead of its value. */
  readonly secret?: boolean;
  /** Throws an `Error` whose message completes "KEY must be …". */
  readonly parse: (text: string) => Value;
}

const setting = <Value, Default extends string | null>(
  key: string,
  defaultText: Default,
  doc: string,
  parse: (text: string) => Value,
  secret = false,
): Setting<Value> & { readonly default: Default } => ({
  key,
  default: defaultText,
  doc,
  parse,
  secret,
});

/** Every setting there is. `skyhook config` and the README print this table. */
export const settings = {
  host: setting("HOST", "0.0.0.0", "Address to listen on", text),
  port: setting("PORT", "3111", "Port to listen on; 0 takes a free one", integer(0, 65_535)),
  dataDir: setting("DATA_DIR", "./data", "Folder for what Skyhook keeps; made if missing", text),
  databaseUrl: setting(
    "DATABASE_URL",
    null,
    "`sqlite:<file>`, `sqlite::memory:` or `postgres://user:password@host:5432/database`; unset: `sqlite:<DATA_DIR>/skyhook.db`",
    databaseUrl,
  ),
  databasePoolSize: setting(
    "DATABASE_POOL_SIZE",
    "10",
    "PostgreSQL: connections of this instance at most, one more for signals aside",
    integer(1, 1_000),
  ),
  databaseConnectTimeoutMs: setting(
    "DATABASE_CONNECT_TIMEOUT_MS",
    "5000",
    "PostgreSQL: how long one attempt to connect may take",
    integer(100, 60_000),
  ),
  databaseStatementTimeoutMs: setting(
    "DATABASE_STATEMENT_TIMEOUT_MS",
    "10000",
    "PostgreSQL: how long one statement may take, and a transaction stay idle",
    integer(100, 600_000),
  ),
  databaseRetryMs: setting(
    "DATABASE_RETRY_MS",
    "2000",
    "PostgreSQL: how long work is tried again after a lost connection or a collision before 503",
    integer(0, 60_000),
  ),
  secretsDir: setting(
    "SECRETS_DIR",
    "./secrets",
    "Folder with one file a secret, as `task_tracker_webhook_secret`",
    text,
  ),
  providers: setting(
    "WEBHOOK_PROVIDERS",
    defaultProviders.join(","),
    `Providers to register; known: ${catalogue.map(({ id }) => id).join(", ")}`,
    providerIds,
  ),
  trustedProxyHops: setting(
    "TRUSTED_PROXY_HOPS",
    "0",
    "Proxies in front whose X-Forwarded-For is believed, counted from the right",
    integer(0, 16),
  ),
  jwtSecret: setting(
    "JWT_SECRET",
    null,
    "Signs access tokens, 32 bytes or more; unset: made once and kept in DATA_DIR",
    atLeastBytes(32),
    true,
  ),
  jwtIssuer: setting("JWT_ISSUER", "skyhook", "`iss` of access tokens", text),
  jwtAudience: setting("JWT_AUDIENCE", "skyhook", "`aud` of access tokens", text),
  jwksUrl: setting(
    "JWKS_URL",
    null,
    "Keys of an external identity provider; then only its tokens are taken",
    pattern(/^https?:\/\/[^\s]+$/, "an http or https URL"),
  ),
  corsOrigins: setting(
    "CORS_ORIGINS",
    null,
    "Origins whose scripts may call, as `https://a.example.com,https://b.example.com`; unset: none",
    origins,
  ),
  usersAccess: setting(
    "USERS_ACCESS",
    "any",
    "Who may list and make users: any (whoever has a token) or admin",
    oneOf("any", "admin"),
  ),
  operatorGatewayUrl: setting(
    "OPERATOR_GATEWAY_URL",
    null,
    "Where notifications are posted; unset: the feed and the log only",
    pattern(/^https?:\/\/[^\s]+$/, "an http or https URL"),
  ),
  operatorGatewaySecret: setting(
    "OPERATOR_GATEWAY_SECRET",
    null,
    "Signs what is posted there (Standard Webhooks): `whsec_` and base64 of 24 to 64 bytes",
    standardWebhooksSecret,
    true,
  ),
  refundFreeWithinHours: setting(
    "REFUND_FREE_WITHIN_HOURS",
    "24",
    "A booking cancelled this soon is paid back whole …",
    integer(0, 8_760),
  ),
  refundFreeBeforeDays: setting(
    "REFUND_FREE_BEFORE_DAYS",
    "7",
    "… when departure is at least this far off",
    integer(0, 365),
  ),
  refundSteps: setting(
    "REFUND_STEPS",
    "72:90,24:50",
    "Later: `hours:percent`, the first with more hours left than it says; else nothing",
    refundSteps,
  ),
  graphiql: setting(
    "GRAPHIQL",
    null,
    "on or off: the GraphQL playground and introspection; unset: on, but off where NODE_ENV is production",
    oneOf("on", "off"),
  ),
  eventRetentionDays: setting(
    "EVENT_RETENTION_DAYS",
    "90",
    "Events are deleted after this long, 7 at least, unless a notification of theirs is undelivered",
    integer(7, 36_500),
  ),
  bodyRetentionDays: setting(
    "BODY_RETENTION_DAYS",
    "30",
    "The exact bytes of deliveries are forgotten after this long; replays need them",
    integer(1, 36_500),
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    "debug, info, warn, error or silent",
    oneOf("debug", "info", "warn", "error", "silent"),
  ),
  logFormat: setting(
    "LOG_FORMAT",
    "auto",
    "json, pretty, or auto: pretty on a terminal",
    oneOf("auto", "json", "pretty"),
  ),
} as const;

type Settings = typeof settings;
type ValueOf<S> =
  S extends Setting<infer Value> ? (S extends { default: string } ? Value : Value | null) : never;

/** The settings that `Config` holds in another form. */
type Reshaped =
  | "databaseUrl"
  | "databasePoolSize"
  | "databaseConnectTimeoutMs"
  | "databaseStatementTimeoutMs"
  | "databaseRetryMs"
  | "graphiql";

/** What the environment says, checked and frozen. */
export type Config = {
  readonly [Name in Exclude<keyof Settings, Reshaped>]: ValueOf<Settings[Name]>;
} & {
  readonly databaseUrl: string;
  readonly databaseLimits: ServerLimits;
  readonly graphiql: "on" | "off";
};

/** A setting whose text is wrong. Its message is one line that names the key. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads the configuration. Throws a `ConfigError` on the first value that is wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const read = <S extends Setting<unknown>>({ key, default: fallback, parse }: S): ValueOf<S> => {
    const given = env[key]?.trim();
    const value = given === undefined || given === "" ? fallback : given;
    try {
      // Guarantee: ValueOf<S> is what S's own parser returns, or null where S has no default.
      return (value === null ? null : parse(value)) as ValueOf<S>;
    } catch (error) {
      throw new ConfigError(`${key} must be ${error instanceof Error ? error.message : "valid"}`);
    }
  };
  const dataDir = read(settings.dataDir);
  const config: Config = {
    host: read(settings.host),
    port: read(settings.port),
    dataDir,
    databaseUrl: read(settings.databaseUrl) ?? `sqlite:${join(dataDir, "skyhook.db")}`,
    databaseLimits: {
      poolSize: read(settings.databasePoolSize),
      connectTimeoutMs: read(settings.databaseConnectTimeoutMs),
      statementTimeoutMs: read(settings.databaseStatementTimeoutMs),
      retryMs: read(settings.databaseRetryMs),
    },
    secretsDir: read(settings.secretsDir),
    providers: read(settings.providers),
    trustedProxyHops: read(settings.trustedProxyHops),
    jwtSecret: read(settings.jwtSecret),
    jwtIssuer: read(settings.jwtIssuer),
    jwtAudience: read(settings.jwtAudience),
    jwksUrl: read(settings.jwksUrl),
    corsOrigins: read(settings.corsOrigins),
    usersAccess: read(settings.usersAccess),
    operatorGatewayUrl: read(settings.operatorGatewayUrl),
    operatorGatewaySecret: read(settings.operatorGatewaySecret),
    refundFreeWithinHours: read(settings.refundFreeWithinHours),
    refundFreeBeforeDays: read(settings.refundFreeBeforeDays),
    refundSteps: read(settings.refundSteps),
    graphiql: read(settings.graphiql) ?? (env["NODE_ENV"]?.trim() === "production" ? "off" : "on"),
    eventRetentionDays: read(settings.eventRetentionDays),
    bodyRetentionDays: read(settings.bodyRetentionDays),
    logLevel: read(settings.logLevel),
    logFormat: read(settings.logFormat),
  };
  if ((config.operatorGatewayUrl === null) !== (config.operatorGatewaySecret === null)) {
    throw new ConfigError("OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET must be set together");
  }
  return Object.freeze(config);
}

function text(value: string): string {
  return value;
}

function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`a whole number from ${least} to ${most}, not "${value}"`);
    }
    return number;
  };
}

function pattern(expected: RegExp, description: string): (value: string) => string {
  return (value) => {
    if (!expected.test(value)) throw new Error(`${description}, not "${value}"`);
    return value;
  };
}

/** Never repeats a URL of a server, which may hold a password. */
function databaseUrl(value: string): string {
  if (/^sqlite:.+/.test(value)) return value;
  const url = URL.parse(value);
  if (/^postgres(ql)?:\/\//.test(value) && url !== null && url.pathname.length > 1) return value;
  throw new Error(
    "like sqlite:./data/skyhook.db or postgres://user:password@host:5432/database, with what is special in a password percent-encoded",
  );
}

function oneOf<const Choice extends string>(...choices: Choice[]): (value: string) => Choice {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`one of ${choices.join(", ")}, not "${value}"`);
    return choice;
  };
}

function atLeastBytes(least: number): (value: string) => string {
  return (value) => {
    const bytes = Buffer.byteLength(value);
    if (bytes < least) throw new Error(`${least} bytes or more; it has ${bytes}`);
    return value;
  };
}

function providerIds(value: string): readonly string[] {
  const ids = [...new Set(value.split(",").map((id) => id.trim()))].filter((id) => id !== "");
  const known = catalogue.map((provider) => provider.id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) throw new Error(`out of ${known.join(", ")}; "${unknown}" is unknown`);
  return ids;
}

/** Exact origins (RFC 6454 section 6.2). There is no way to allow all of them. */
function origins(value: string): readonly string[] {
  const listed = value.split(",").map((origin) => origin.trim());
  return listed.filter((origin) => {
    const isExact = URL.parse(origin)?.origin === origin && !origin.includes("*");
    if (origin !== "" && !isExact) {
      throw new Error(`exact origins, like https://app.example.com, not "${origin}"`);
    }
    return origin !== "";
  });
}

/** The key bytes of a Standard Webhooks secret, by the form its specification gives. */
function standardWebhooksSecret(value: string): Uint8Array {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value)?.[1];
  const key = Buffer.from(encoded ?? "", "base64");
  if (key.length < 24 || key.length > 64) {
    throw new Error("`whsec_` and the base64 of 24 to 64 bytes");
  }
  return key;
}

/** Refund steps, longest first. */
function refundSteps(value: string): readonly { moreThanHours: number; percent: number }[] {
  const steps = value.split(",").map((step) => {
    const [, hours, percent] = /^\s*(\d{1,4}):(\d{1,3})\s*$/.exec(step) ?? [];
    if (hours === undefined || Number(percent) > 100) throw new Error("like 72:90,24:50");
    return { moreThanHours: Number(hours), percent: Number(percent) };
  });
  return steps.toSorted((one, other) => other.moreThanHours - one.moreThanHours);
}
