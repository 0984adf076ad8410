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

/** One setting: where it comes from, what it is when unset, what it means, and how its text is read. */
export interface Setting<Value> {
  readonly key: string;
  /** As text, so that it goes through the same parser and can be printed. Null: unset has a meaning. */
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

/** Every setting there is. `skyhook config` and docs/operations.md print this table. */
export const settings = {
  host: setting("HOST", "0.0.0.0", "Address to listen on", text),
  port: setting("PORT", "3111", "Port to listen on; 0 takes a free one", integer(0, 65_535)),
  dataDir: setting("DATA_DIR", "./data", "Folder for what Skyhook keeps; made if missing", text),
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
    "Proxies in front whose X-Forwarded-For is believed, counted from the right",
    integer(0, 16),
  ),
  personalDataKey: setting(
    "PERSONAL_DATA_KEY",
    null,
    "Seals birth dates and passports: base64 of 32 bytes; unset: `personal_data_key` in SECRETS_DIR, else made once and kept in DATA_DIR",
    base64Key,
    { isSecret: true, isFile: true },
  ),
  jwtSecret: setting(
    "JWT_SECRET",
    null,
    "Signs access tokens, 32 bytes or more; unset: made once and kept in DATA_DIR",
    atLeastBytes(32),
    { isSecret: true, isFile: true },
  ),
  jwtIssuer: setting("JWT_ISSUER", "skyhook", "`iss` of access tokens", text),
  jwtAudience: setting("JWT_AUDIENCE", "skyhook", "`aud` of access tokens", text),
  jwksUrl: setting(
    "JWKS_URL",
    null,
    "Keys of an external identity provider; then only its tokens are taken",
    webUrl,
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
    webUrl,
  ),
  operatorGatewaySecret: setting(
    "OPERATOR_GATEWAY_SECRET",
    null,
    "Signs what is posted there (Standard Webhooks): `whsec_` and base64 of 24 to 64 bytes",
    standardWebhooksSecret,
    { isSecret: true, isFile: true },
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
    "The exact bytes of deliveries, refused ones too, are forgotten after this long; replays need them",
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
    "OpenTelemetry collector, as `http://localhost:4318`; traces go to `/v1/traces` there; unset: no traces",
    webUrlWithoutQuery,
  ),
  otlpHeaders: setting(
    "OTEL_EXPORTER_OTLP_HEADERS",
    null,
    "Headers for the collector, as `authorization=Basic%20abc,x-tenant=1`",
    headerPairs,
    { isSecret: true },
  ),
  otlpProtocol: setting(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "http/json",
    "http/json; there is no other",
    oneOf("http/json"),
  ),
  otlpTimeoutMs: setting(
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "10000",
    "Milliseconds that the collector has for an answer",
    integer(1, 60_000),
  ),
  otelServiceName: setting("OTEL_SERVICE_NAME", "skyhook", "`service.name` in traces", text),
  otelResourceAttributes: setting(
    "OTEL_RESOURCE_ATTRIBUTES",
    "",
    "More about this service in traces, as `deployment.environment.name=staging`",
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
    "The part of traces that the samplers by ratio record, from 0 to 1",
    ratio,
  ),
} as const;
