import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/errors.ts";
import { misspeltSettings } from "../../src/config/misspelt.ts";
import { equalSecrets, requireSecrets, secretStore, tokenKey } from "../../src/config/secrets.ts";
import { withoutPassword } from "../../src/db/without-password.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { thrown } from "../support/failure.ts";

const folder = mkdtempSync(join(tmpdir(), "skyhook-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const failureOf = (read: () => unknown) => thrown(ConfigError, read)?.messages ?? [];

describe("configuration", () => {
  test("has defaults", () => {
    expect(readConfig({})).toMatchObject({
      host: "0.0.0.0",
      port: 3111,
      dataDir: "./data",
      databaseUrl: "sqlite:data/skyhook.db",
      secretsDir: "./secrets",
      providers: ["task_tracker", "shared_inbox", "deploy_platform", "code_host"],
      trustedProxyHops: 0,
      jwtIssuer: "skyhook",
      jwtAudience: "skyhook",
    });
  });

  test("treats blank values as not set", () => {
    expect(readConfig({ PORT: " ", JWT_SECRET: "" })).toMatchObject({
      port: 3111,
      jwtSecret: null,
    });
  });

  test.each([
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["WEBHOOK_PROVIDERS", "task_tracker,nobody"],
    ["TRUSTED_PROXY_HOPS", "1.5"],
    ["JWT_SECRET", "too short"],
    ["DATABASE_URL", "mysql://localhost"],
    ["DATABASE_URL", "sqlite:"],
    ["DATABASE_URL", "postgres://sky:hush@one,two/skyhook"],
    ["DATABASE_URL", "postgres://sky:12/hush@localhost/skyhook"],
    ["DATABASE_URL", "postgres://sky:100%hush@localhost/skyhook"],
    ["DATABASE_URL", "postgres://sky:hush@localhost/skyhook?sslmode=verify"],
    ["OPERATOR_GATEWAY_URL", "ftp://x"],
    ["OPERATOR_GATEWAY_URL", "https://:::/x"],
    ["OPERATOR_GATEWAY_URL", "https://example.com:99999"],
    ["JWKS_URL", "https://[::1"],
    ["OIDC_ISSUER", "http://id.example.com"],
    ["OIDC_ISSUER", "https://me:hush@id.example.com"],
    ["OIDC_ISSUER", "https://id.example.com?x=1"],
    ["OIDC_ROLES_CLAIM", "two words"],
    ["OIDC_ROLES_CLAIM", "preferred_username"],
    ["JWT_ROLES_CLAIM", "user_metadata.role"],
    ["JWT_ROLES_CLAIM", "cognito:username"],
    ["OIDC_ROLES_CLAIM", "address.country"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318?x=1"],
    ["OPERATOR_GATEWAY_SECRET", "whsec_short"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=%0d%0aa"],
    ["CORS_ORIGINS", "https://app.example.com/path"],
    ["CORS_ORIGINS", "https://*.example.com"],
    ["REFUND_STEPS", "72:101"],
    ["CODE_HOST_HOOK", "repos/../skyhook/hooks/1"],
    ["CODE_HOST_API_URL", "https://me:hush@api.example.com"],
    ["PERSONAL_DATA_KEY", Buffer.alloc(31).toString("base64")],
    ["LOG_LEVEL", "loud"],
    ["LOG_FORMAT", "xml"],
  ])("%s=%s is an error of one line that names the key", (key, value) => {
    const [first] = failureOf(() => readConfig({ [key]: value }));
    expect(first).toMatch(new RegExp(`^${key} must be [^\\n]+$`));
  });

  test("sorts refund rates, the longest time before departure first", () => {
    const { refundSteps } = readConfig({ REFUND_STEPS: "0:10,72:90,24:50" });
    expect(refundSteps.map(({ moreThanHours }) => moreThanHours)).toEqual([72, 24, 0]);
  });

  test("reports all invalid settings in one error, one line each", () => {
    const env = { PORT: "http", LOG_LEVEL: "loud", OPERATOR_GATEWAY_URL: "https://example.com" };
    expect(failureOf(() => readConfig(env))).toEqual([
      `PORT must be a whole number from 0 to 65535, not "http"`,
      `LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"`,
      "OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET must be set together",
    ]);
  });

  test.each([
    ["WEBHOOK_PROVIDER", "WEBHOOK_PROVIDERS"],
    ["OPERATOR_GATEWAY_URl", "OPERATOR_GATEWAY_URL"],
    ["database_url", "DATABASE_URL"],
    ["TASKTRACKER_WEBHOOK_SECRET", "TASK_TRACKER_WEBHOOK_SECRET"],
    ["CODE_HOST_WEBHOOK_SECERT", "CODE_HOST_WEBHOOK_SECRET"],
  ])("warns of %s, a misspelling of %s", (name, meant) => {
    const warning = `${name} is ignored: did you mean ${meant}?`;
    expect(misspeltSettings({ [name]: "x", [meant]: undefined })).toEqual([warning]);
    expect(misspeltSettings({ [name]: "x", [meant]: "y" })).toEqual([]);
  });

  test("does not warn of variables of other programs", () => {
    const others =
      "PATH HOME HOST HOSTNAME POST PORTS USER SHELL TERM LANG LOGNAME PGDATA DATABASE";
    const more = "OTEL_TRACES_EXPORTER OTEL_LOG_LEVEL SECRET LOG_DIR XDG_DATA_DIRS GITHUB_TOKEN";
    const env = Object.fromEntries(`${others} ${more}`.split(" ").map((name) => [name, "x"]));
    expect(misspeltSettings(env)).toEqual([]);
  });

  test("never prints an invalid secret [API8-12]", () => {
    const url = "postgres://sky:12/hush@localhost/skyhook";
    expect(() => readConfig({ DATABASE_URL: url })).not.toThrow("hush");
    expect(() => readConfig({ JWT_SECRET: "hush" })).not.toThrow("hush");
    expect(() => readConfig({ OPERATOR_GATEWAY_SECRET: "hush" })).not.toThrow("hush");
    for (const key of ["OPERATOR_GATEWAY_URL", "JWKS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"]) {
      for (const url of [
        "https://me:hush@a b/",
        "htp://example.com?token=hush",
        "https://::/hush",
      ]) {
        expect(() => readConfig({ [key]: url }), `${key} ${url}`).not.toThrow("hush");
      }
    }
  });

  test.each([
    ["postgres://me:hush@host/db?sslpassword=hush&sslmode=require", "sslmode=require"],
    ["https://me:hush@host/notify?Token=hush&team=3", "team=3"],
    ["https://host/notify?team=3&x-api-key=hush&sig=hush", "team=3"],
  ])("shows %s without its secrets", (url, kept) => {
    const shown = withoutPassword(url);
    expect(shown).not.toContain("hush");
    expect(shown).toContain(kept);
  });

  test("requires the gateway's URL and secret together", () => {
    expect(() => readConfig({ OPERATOR_GATEWAY_URL: "https://example.com" })).toThrow("together");
  });
});

describe("sign-in by OpenID Connect", () => {
  const all = {
    OIDC_ISSUER: "https://id.example.com/ops/",
    OIDC_CLIENT_ID: "skyhook",
    OIDC_CLIENT_SECRET: "hush",
    PUBLIC_URL: "https://hooks.example.com",
  };

  test("keeps the slash at the end of the issuer", () => {
    expect(readConfig(all)).toMatchObject({ oidcIssuer: all.OIDC_ISSUER, oidcRolesClaim: "roles" });
  });

  test.each(["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "PUBLIC_URL"])("requires %s", (key) => {
    expect(() => readConfig({ ...all, [key]: undefined })).toThrow(`needs ${key}`);
  });

  test("requires an https PUBLIC_URL, except on this machine", () => {
    const open = { ...all, PUBLIC_URL: "http://hooks.example.com" };
    expect(() => readConfig(open)).toThrow("PUBLIC_URL must be https");
    expect(readConfig({ ...all, PUBLIC_URL: "http://127.0.0.1:3111" }).oidcClientId).toBe(
      "skyhook",
    );
  });
});

describe("settings in files", () => {
  const secretsDir = join(folder, "settings");
  mkdirSync(secretsDir);
  const key = Buffer.alloc(32, 3).toString("base64");
  const texts = {
    jwt_secret: "a signing key of at least 32 bytes",
    database_url: "postgres://sky:hush@db.example/skyhook",
    operator_gateway_secret: `whsec_${Buffer.alloc(24, 5).toString("base64")}`,
    personal_data_key: key,
    personal_data_key_previous: Buffer.alloc(32, 4).toString("base64"),
    port: "8080",
  };
  const write = (name: string, text: string) => writeFileSync(join(secretsDir, name), text);
  beforeEach(() => {
    for (const [name, text] of Object.entries(texts)) write(name, `${text}\n`);
  });
  const env = { SECRETS_DIR: secretsDir, OPERATOR_GATEWAY_URL: "https://gateway.example/in" };

  test("are read like environment variables, if they are secrets", () => {
    expect(readConfig(env)).toMatchObject({
      jwtSecret: texts.jwt_secret,
      databaseUrl: texts.database_url,
      operatorGatewaySecret: new Uint8Array(24).fill(5),
      personalDataKey: new Uint8Array(32).fill(3),
      port: 3111,
    });
    const ring = secretStore(env, secretsDir).personalDataKeysThere("/nonexistent");
    expect(ring.map((each) => each[0])).toEqual([3, 4]);
  });

  test("are overridden by the environment", () => {
    const jwtSecret = "another signing key of at least 32 bytes";
    expect(readConfig({ ...env, JWT_SECRET: jwtSecret })).toMatchObject({ jwtSecret });
    expect(readConfig({ ...env, JWT_SECRET: " " })).toMatchObject({ jwtSecret: texts.jwt_secret });
  });

  test("are named in errors, which never repeat their text", () => {
    write("jwt_secret", "hush");
    write("database_url", "mysql://sky:hush@localhost/skyhook");
    write("operator_gateway_secret", "\n");
    write("personal_data_key", "hush");
    const messages = failureOf(() => readConfig(env));
    expect(messages).toHaveLength(4);
    for (const name of ["jwt_secret", "database_url", "operator_gateway_secret"]) {
      expect(messages.join("\n")).toContain(join(secretsDir, name));
    }
    expect(messages.join("\n")).not.toContain("hush");
  });
});

describe("webhook secrets", () => {
  test("are read from the environment first, then from files, which are trimmed", () => {
    writeFileSync(join(folder, "task_tracker_webhook_secret"), "from the file\r\n");
    writeFileSync(join(folder, "task_tracker_webhook_secret_previous"), " old ");
    expect(secretStore({}, folder).webhookSecrets("task_tracker")).toEqual({
      current: "from the file",
      previous: "old",
    });
    const env = { TASK_TRACKER_WEBHOOK_SECRET: "from the environment" };
    expect(secretStore(env, folder).webhookSecrets("task_tracker")?.current).toBe(
      "from the environment",
    );
    expect(secretStore({}, folder).webhookSecrets("code_host")).toBeNull();
  });

  test("that are empty are an error, so that nobody can sign with an empty secret [API8-10]", () => {
    writeFileSync(join(folder, "shared_inbox_webhook_secret"), " \n");
    const store = secretStore({ CODE_HOST_WEBHOOK_SECRET: "" }, folder);
    expect(() => store.webhookSecrets("shared_inbox")).toThrow("is empty");
    expect(() => store.webhookSecrets("code_host")).toThrow("CODE_HOST_WEBHOOK_SECRET is empty");
  });

  test.each([
    ["current", { CODE_HOST_WEBHOOK_SECRET: "same", DEPLOY_PLATFORM_WEBHOOK_SECRET: "same" }],
    [
      "previous",
      {
        CODE_HOST_WEBHOOK_SECRET: "new",
        CODE_HOST_WEBHOOK_SECRET_PREVIOUS: "same",
        DEPLOY_PLATFORM_WEBHOOK_SECRET: "same",
      },
    ],
  ])("are compared, to find providers with the same %s secret", (_, env) => {
    const store = secretStore(env, "/nonexistent");
    const others = { TASK_TRACKER_WEBHOOK_SECRET: "other", SHARED_INBOX_WEBHOOK_SECRET: "another" };
    expect(equalSecrets(store, catalogue)).toEqual([["deploy_platform", "code_host"]]);
    expect(equalSecrets(secretStore(others, "/nonexistent"), catalogue)).toEqual([]);
  });

  test("need folders where the settings name folders, or nothing", () => {
    const file = join(folder, "not-a-folder");
    writeFileSync(file, "");
    const env = { DATA_DIR: folder, SECRETS_DIR: file, PROVIDERS_DIR: file };
    expect(failureOf(() => requireSecrets(env))).toEqual([
      `SECRETS_DIR must be a folder, but ${file} is a file`,
      `PROVIDERS_DIR must be a folder, but ${file} is a file`,
    ]);
    const missing = join(folder, "missing");
    requireSecrets({ DATA_DIR: folder, SECRETS_DIR: missing, PROVIDERS_DIR: missing });
  });

  test("are stored in files that only the owner can read", () => {
    const file = secretStore({}, folder).storeWebhookSecret("deploy_platform", "s3cret", "current");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(secretStore({}, folder).webhookSecrets("deploy_platform")?.current).toBe("s3cret");
  });

  test("stored again keep the one before, or the one that is named", () => {
    const store = secretStore({}, join(folder, "rotated"));
    store.createWebhookSecret("code_host", "first");
    for (const [kept, current, previous] of [
      ["current", "second", "first"],
      ["current", "third", "second"],
      // Stored again, it does not replace the one before it.
      ["current", "third", "second"],
      ["previous", "fourth", "second"],
    ] as const) {
      store.storeWebhookSecret("code_host", current, kept);
      expect(store.webhookSecrets("code_host")).toEqual({ current, previous });
    }
  });
});

describe("the key for tokens", () => {
  test("is created once, in a file that only the owner can read", () => {
    const data = join(folder, "data");
    const made = tokenKey(null, data);
    expect(made.length).toBeGreaterThanOrEqual(32);
    expect(tokenKey(null, data)).toEqual(made);
    expect(statSync(join(data, "jwt_secret")).mode & 0o777).toBe(0o600);
    expect(statSync(data).mode & 0o777).toBe(0o700);
  });

  test("is not used if its file is too short", () => {
    const data = join(folder, "short");
    mkdirSync(data);
    writeFileSync(join(data, "jwt_secret"), "guess");
    expect(failureOf(() => tokenKey(null, data))[0]).toContain("too short");
  });
});
