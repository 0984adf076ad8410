import { expect } from "bun:test";

import { type App, createApp } from "../../src/app.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Role } from "../../src/base/context.ts";
import { makeId } from "../../src/base/ids.ts";
import { readConfig } from "../../src/config/config.ts";
import { secretStore } from "../../src/config/secrets.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { signatureHeaders } from "../../src/inbound/signatures/scheme.ts";
import { sign } from "../../src/inbound/signatures/sign.ts";
import { createServices, type Services } from "../../src/services.ts";
import { createLog } from "../../src/telemetry/log.ts";

import { type ManualClock, manualClock } from "./clock.ts";
import { databaseForApp, defaultDialect, testPoolSize } from "./databases.ts";
import { checkDocumented } from "./documented-answers.ts";

/** The whole service in this process: real storage in memory and real routes, without a socket. */
export interface TestApp extends AsyncDisposable {
  readonly app: App;
  readonly services: Services;
  readonly clock: ManualClock;
  /** Sends a request through every hook and route. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Like `fetch`, with a token of a role; by default always for the same bearer. */
  as(role: Role, path: string, init?: RequestInit, bearer?: string): Promise<Response>;
  /** Signs a body as the provider would and posts it. */
  deliver(provider: string, body: string | Uint8Array, init?: DeliverOptions): Promise<Response>;
  /** Posts a fresh sample of a listed event. */
  deliverSample(provider: string, event: string): Promise<Response>;
  stop(): Promise<void>;
}

interface DeliverOptions {
  readonly headers?: Record<string, string>;
  readonly secret?: string;
}

/** The webhook secret of each provider in tests. */
export const testSecret = (provider: string): string => `test-secret-of-${provider}`;

/** A file accepts all lines. A pipe without a reader would delay the end of a test. */
const logDrainMs = 5_000;
const everyProvider = catalogue.map(({ id }) => id);

export async function startApp(
  env: Record<string, string | undefined> = {},
  clock: ManualClock = manualClock(),
  {
    logFd,
    secretsDir = "/nonexistent",
    dialect = defaultDialect,
    isDocumented = true,
  }: {
    readonly logFd?: number;
    readonly secretsDir?: string;
    /** Of its database, unless DATABASE_URL names one. */
    readonly dialect?: typeof defaultDialect;
    /** False where answers are not read, or have words that this version does not know. */
    readonly isDocumented?: boolean;
  } = {},
): Promise<TestApp> {
  const secrets = everyProvider.map((id) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, testSecret(id)]);
  const needsDatabase = env["DATABASE_URL"] === undefined && dialect === "postgres";
  let database = needsDatabase ? await databaseForApp() : null;
  const settings = {
    DATABASE_URL: database?.url ?? "sqlite::memory:",
    DATABASE_POOL_SIZE: String(testPoolSize),
    DATA_DIR: "/nonexistent",
    SECRETS_DIR: "/nonexistent",
    PERSONAL_DATA_KEY: Buffer.alloc(32, 7).toString("base64"),
    JWT_SECRET: "a test key of thirty-two bytes!!",
    WEBHOOK_PROVIDERS: everyProvider.join(","),
    LOG_LEVEL: "silent",
    ...Object.fromEntries(secrets),
    ...env,
  };
  const config = readConfig(settings);
  const { logLevel: level, logFormat: format } = config;
  const log = createLog({ level, format, ...(logFd !== undefined && { fd: logFd }) });
  const services = await createServices(config, secretStore(settings, secretsDir), log, {
    clock,
    makeId,
    random: () => 0,
  });
  const app = createApp(services);
  await services.start();

  const handle = (path: string, init: RequestInit = {}) =>
    app.handle(new Request(`http://localhost${path}`, init));
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await handle(path, init);
    if (isDocumented) await checkDocumented(handle, init.method ?? "GET", path, response);
    return response;
  };
  const stop = async () => {
    services.drain();
    const stopped = services.stop();
    // Advances past the time that a stop waits for open requests.
    clock.advance(5_000);
    await stopped;
    // Lines are written in the background, and tests read the file afterwards.
    await log.drain(logDrainMs);
    const used = database;
    // A test may stop its app before the cleanup stops it again.
    database = null;
    await used?.[Symbol.asyncDispose]();
  };
  return {
    app,
    services,
    clock,
    fetch: send,
    async as(role, path, init = {}, bearer = `test-${role}`) {
      const token = await services.tokens.mint({ id: bearer, roles: [role] }, 3_600);
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${token}`);
      return send(path, { ...init, headers });
    },
    deliver: (id, body, init) => send(`/webhooks/${id}`, signed(id, body, clock, init)),
    deliverSample(id, event) {
      const { headers, body } = sample(id, event, clock);
      return send(`/webhooks/${id}`, signed(id, JSON.stringify(body), clock, { headers }));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Returns a provider of the catalogue. */
export function providerOf(id: string) {
  const provider = catalogue.find((candidate) => candidate.id === id);
  if (provider === undefined) throw new Error(`No provider ${id}`);
  return provider;
}

export function sample(id: string, event: string, clock: Clock) {
  const make = providerOf(id).samples[event];
  if (make === undefined) throw new Error(`${id} has no sample of ${event}`);
  return make({ id: crypto.randomUUID(), now: new Date(clock.now()) });
}

/** Returns the request options of a signed delivery. */
export function signed(
  id: string,
  body: string | Uint8Array,
  clock: Clock,
  { headers = {}, secret = testSecret(id) }: DeliverOptions = {},
): RequestInit {
  const bytes = Buffer.from(body);
  const own = signatureOf(id, bytes, clock, secret);
  return {
    method: "POST",
    body: bytes,
    headers: { "content-type": "application/json", ...own, ...headers },
  };
}

/** The header that a provider signs a body with. */
export function signatureOf(
  id: string,
  body: string | Uint8Array,
  clock: Pick<Clock, "now"> = Date,
  secret = testSecret(id),
): Record<string, string> {
  const { signature } = providerOf(id);
  const [header = ""] = signatureHeaders(signature);
  return { [header]: sign(signature, secret, Buffer.from(body), clock.now()) };
}

/** Parses a response as a JSON object. */
export async function json(response: Response): Promise<Record<string, unknown>> {
  const value: unknown = await response.json();
  if (typeof value !== "object" || value === null) throw new Error("Not a JSON object");
  return { ...value };
}

/** Checks the status of a response, and parses it as a JSON object. */
export function jsonWith(response: Response, status: number): Promise<Record<string, unknown>> {
  expect(response.status).toBe(status);
  return json(response);
}

/** Far longer than a busy machine needs. Mutants, which have tests wait in vain, set less. */
const waitMs = Number(process.env["TEST_WAIT_MS"] ?? 60_000);

/** Checks `condition` every few milliseconds until it is true. Throws after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = waitMs) {
  const start = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - start;
    if (waitedMs > timeoutMs) throw new Error("The condition was not true in time");
    // Conditions that send requests take the time that the app needs to fulfil them.
    await Bun.sleep(Math.min(2 + waitedMs / 20, 10));
  }
}
