import { samplerNames } from "../telemetry/tracing/tracing-settings.ts";
import { catalogue, defaultProviders } from "../gateway/providers/catalogue.ts";

import {
  atLeastBytes,
  base64Key,
  databaseUrl,
  headerPairs,
  integer,
  oneOf,
  origins,
  pairs,
  providerIds,
  ratio,
  refundSteps,
  standardWebhooksSecret,
  text,
  webUrl,
  webUrlWithoutQuery,
} from "./parsers.ts";

/** One setting: its variable, default, meaning and parser. */
export interface Setting<Value> {
  readonly key: string;
  /** As text, so that it passes the same parser and can be printed. Null: no default; `doc` says what unset means. */
  readonly default: string | null;
  readonly doc: string;
  /** Printed as `(set)` instead of its value. */
  readonly isSecret: boolean;
  /** May also be a file in `SECRETS_DIR`, named like the key in lower-case letters. */
  readonly isFile: boolean;
  /** Throws an `Error` whose message completes "KEY must be …". */
  readonly parse: (text: string) => Value;
}

const setting = <Value, Default extends string | null>(
  key: string,
  defaultText: Default,
  doc: string,
  parse: (text: string) => Value,
  { isSecret = false, isFile = false } = {},
): Setting<Value> & { readonly default: Default } => ({
  key,
  default: defaultText,
  doc,
  parse,
  isSecret,
  isFile,
});

/** All settings. `skyhook config` and docs/operations.md print this table. */
export const settings = {
  host: setting("HOST", "0.0.0.0", "Address to listen on", text),
  port: setting("PORT", "3111", "Port to listen on; 0 selects a free port", integer(0, 65_535)),
  dataDir: setting(
    "DATA_DIR",
    "./data",
    "Folder for the database and generated keys; created if missing",
    text,
  ),
  databaseUrl: setting(
    "DATABASE_URL",
    null,
    "`sqlite:<file>`, `sqlite::memory:` or `postgres://user:password@host:5432/database`; unset: `sqlite:<DATA_DIR>/skyhook.db`",
    databaseUrl,
    { isFile: true },
  ),
  databasePoolSize: setting(
    "DATABASE_POOL_SIZE",
    "10",
    "PostgreSQL: maximum number of connections, besides one for notifications",
    integer(1, 1_000),
  ),
  databaseConnectTimeoutMs: setting(
    "DATABASE_CONNECT_TIMEOUT_MS",
    "5000",
    "PostgreSQL: time-out of one connection attempt",
    integer(100, 60_000),
  ),
  databaseStatementTimeoutMs: setting(
    "DATABASE_STATEMENT_TIMEOUT_MS",
    "10000",
    "PostgreSQL: time-out of one statement, and of an idle transaction",
    integer(100, 600_000),
  ),
  databaseRetryMs: setting(
    "DATABASE_RETRY_MS",
    "2000",
    "PostgreSQL: how long to retry after a lost connection or a conflict before answering 503",
    integer(0, 60_000),
  ),
  secretsDir: setting(
    "SECRETS_DIR",
    "./secrets",
    "Folder with one file per secret: `task_tracker_webhook_secret`, `jwt_secret`, `database_url`, `operator_gateway_secret`, `personal_data_key` …",
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
    "Number of trusted proxies in X-Forwarded-For, counted from the right",
    integer(0, 16),
  ),
  personalDataKey: setting(
    "PERSONAL_DATA_KEY",
    null,
    "Encrypts birth dates and passports: base64 of 32 bytes; unset: created once and stored in DATA_DIR",
    base64Key,
    { isSecret: true, isFile: true },
  ),
  jwtSecret: setting(
    "JWT_SECRET",
    null,
    "Signs access tokens, at least 32 bytes; unset: created once and stored in DATA_DIR",
    atLeastBytes(32),
    { isSecret: true, isFile: true },
  ),
  jwtIssuer: setting("JWT_ISSUER", "skyhook", "`iss` of access tokens", text),
  jwtAudience: setting("JWT_AUDIENCE", "skyhook", "`aud` of access tokens", text),
  jwksUrl: setting(
    "JWKS_URL",
    null,
    "JSON Web Key Set of an external identity provider; only its tokens are then accepted",
    webUrl,
  ),
  corsOrigins: setting(
    "CORS_ORIGINS",
    null,
    "Origins allowed by CORS, for example `https://a.example.com,https://b.example.com`; unset: none",
    origins,
  ),
  usersAccess: setting(
    "USERS_ACCESS",
    "any",
    "Who may list and create users: any (every valid token) or admin",
    oneOf("any", "admin"),
  ),
  operatorGatewayUrl: setting(
    "OPERATOR_GATEWAY_URL",
    null,
    "URL that notifications are posted to; unset: only the feed and the log show them",
    webUrl,
  ),
  operatorGatewaySecret: setting(
    "OPERATOR_GATEWAY_SECRET",
    null,
    "Signs these notifications (Standard Webhooks): `whsec_` and the base64 of 24 to 64 bytes",
    standardWebhooksSecret,
    { isSecret: true, isFile: true },
  ),
  refundFreeWithinHours: setting(
    "REFUND_FREE_WITHIN_HOURS",
    "24",
    "Full refund for a cancellation within this many hours of booking …",
    integer(0, 8_760),
  ),
  refundFreeBeforeDays: setting(
    "REFUND_FREE_BEFORE_DAYS",
    "7",
    "… if departure is at least this many days away",
    integer(0, 365),
  ),
  refundSteps: setting(
    "REFUND_STEPS",
    "72:90,24:50",
    "Otherwise: `hours:percent` list; the first entry with more hours left until departure counts; no match: no refund",
    refundSteps,
  ),
  graphiql: setting(
    "GRAPHIQL",
    null,
    "GraphQL playground and introspection: on or off; unset: on, but off if NODE_ENV is production",
    oneOf("on", "off"),
  ),
  eventRetentionDays: setting(
    "EVENT_RETENTION_DAYS",
    "90",
    "Days until events are deleted, at least 7; events with undelivered notifications are kept",
    integer(7, 36_500),
  ),
  bodyRetentionDays: setting(
    "BODY_RETENTION_DAYS",
    "30",
    "Days until raw bodies are deleted, of rejected deliveries too; replays need them",
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
  otlpEndpoint: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    null,
    "OpenTelemetry collector, for example `http://localhost:4318`; traces are sent to its `/v1/traces`; unset: no traces",
    webUrlWithoutQuery,
  ),
  otlpHeaders: setting(
    "OTEL_EXPORTER_OTLP_HEADERS",
    null,
    "Headers for the collector, for example `authorization=Basic%20abc,x-tenant=1`",
    headerPairs,
    { isSecret: true },
  ),
  otlpProtocol: setting(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "http/json",
    "Only http/json is supported",
    oneOf("http/json"),
  ),
  otlpTimeoutMs: setting(
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "10000",
    "Time-out of a request to the collector, in milliseconds",
    integer(1, 60_000),
  ),
  otelServiceName: setting("OTEL_SERVICE_NAME", "skyhook", "`service.name` in traces", text),
  otelResourceAttributes: setting(
    "OTEL_RESOURCE_ATTRIBUTES",
    "",
    "Additional resource attributes in traces, for example `deployment.environment.name=staging`",
    pairs,
  ),
  otelSampler: setting(
    "OTEL_TRACES_SAMPLER",
    "parentbased_always_on",
    `Which traces are recorded: ${samplerNames.join(", ")}`,
    oneOf(...samplerNames),
  ),
  otelSamplerRatio: setting(
    "OTEL_TRACES_SAMPLER_ARG",
    "1",
    "Ratio of traces that the ratio samplers record, from 0 to 1",
    ratio,
  ),
} as const;
