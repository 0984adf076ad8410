import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { Argument, type Command } from "commander";

import { systemClock } from "../base/clock.ts";
import { type Role, roles } from "../base/context.ts";
import { makeId } from "../base/ids.ts";
import { makePrivateFolder } from "../base/private-file.ts";
import type { DepartureLoad } from "../booking/flights/flight-load.schema.ts";
import { importFlights } from "../booking/flights/import-flights.ts";
import { demoSchedule } from "../booking/flights/schedule.ts";
import { readConfig } from "../config/config.ts";
import { registeredProviders } from "../config/providers.ts";
import { secretStore } from "../config/secrets.ts";
import { catalogue } from "../inbound/providers/catalogue.ts";
import { developmentSecret } from "../inbound/signatures/development-secret.ts";
import { hasSharedSecret } from "../inbound/signatures/scheme.ts";
import type { Services } from "../services.ts";

import { example } from "./arguments.ts";
import { isInMemory } from "./database.ts";
import { type PastClock, pastClock } from "./demo/past-clock.ts";
import { pastPayments } from "./demo/payments.ts";
import { connectReceivers } from "./demo/receivers.ts";
import { pastRequests, type Sender, sendSamples } from "./demo/requests.ts";
import { contextOf, pastSales } from "./demo/sales.ts";
import { isOurs, publishDemo, runningDemo } from "./demo/state.ts";
import { pastStory } from "./demo/story.ts";
import { liveThrough } from "./demo/timeline.ts";
import { welcome } from "./demo/welcome.ts";
import { createMissingSecrets } from "./secrets.ts";
import { serve, type Serving } from "./serve.ts";

const scheduleDays = 60;
const scheduleSeed = 1;
/** How far back the demo's past goes. */
const historyMs = 31 * 86_400_000;

interface DemoOptions {
  /** A folder that keeps the data after the demo ends. */
  readonly keep?: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("demo")
    .description("run the service in memory, with sample flights, tokens and webhooks")
    .option("--keep <folder>", "store everything in this folder instead of in memory")
    .addHelpText("after", example("skyhook demo"))
    .action((options: DemoOptions) => demo(options, env));
  command
    .command("token")
    .description("print an access token of the demo that runs, for curl and other clients")
    .addArgument(new Argument("<role>", "role of the token").choices(roles))
    .addHelpText("after", example("skyhook demo token operator"))
    .action((role: Role) => console.log(runningDemo(env).tokens[role]));
}

/**
 * `skyhook demo`: runs the service with sample data and a past of some weeks. Unless a folder or DATABASE_URL is
 * given, everything is lost at the end: it is in memory, and what the console adds in a temporary folder.
 */
export async function demo({ keep }: DemoOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const demoEnv = demoEnvOf(keep, env);
  const clock = pastClock();
  const serving = await serve(demoEnv, { clock, makeId, random: Math.random });
  const { services, url } = serving;
  const { config } = services;
  const secrets = secretStore(demoEnv, config.secretsDir);
  const sender: Sender = {
    url,
    publicUrl: config.publicUrl,
    providers: services.registered().filter(({ signature }) => hasSharedSecret(signature)),
    secretOf: (id) => secrets.webhookSecrets(id)?.current ?? null,
    now: () => clock.now(),
  };
  const inMemory = isInMemory(config);
  const flights = await importSchedule(services);
  // A database that is kept has a past after its first demo.
  if (!(await hasEvents(services))) {
    const previous = (id: string) => secrets.webhookSecrets(id)?.previous ?? null;
    await livePast(serving, sender, previous, clock, inMemory);
  }
  const kept = keep === undefined ? null : resolve(keep);
  publishDemo({ variables: variablesFor(demoEnv, url), tokens: await tokensOf(services) }, env);
  console.log(await welcome(services, url, { flights, days: scheduleDays, kept, inMemory }));
  sendSamples(sender);
}

/** The part of a cabin that the demo has for sale. */
const seatsInAllotment = 18;

async function importSchedule({ storage }: Services): Promise<number> {
  const now = new Date(systemClock.now());
  const schedule = Array.from(demoSchedule(now, scheduleDays, scheduleSeed));
  const flights = schedule.map((plan, index) => ({
    line: index + 1,
    plan: { ...plan, seats: Math.max(1, Math.round(plan.seats / seatsInAllotment)) },
  }));
  await importFlights(storage, flights, new Date(now.getTime() - historyMs));
  return flights.length;
}

const admin = contextOf("demo", "admin");

async function hasEvents({ events }: Services): Promise<boolean> {
  const newest = { limit: 1, withTotal: false, direction: "forward", cursor: null } as const;
  const { data } = await events.list(admin, newest, {});
  return data.length > 0;
}

/** Makes the demo's past: sales, deliveries and payments. Its log would be thousands of lines. */
async function livePast(
  { services, log }: Serving,
  sender: Sender,
  previousSecretOf: Sender["secretOf"],
  clock: PastClock,
  inMemory: boolean,
): Promise<void> {
  const { level } = log;
  log.level = "silent";
  const departures = await departuresOf(services);
  clock.setBack(historyMs);
  // Their receivers end with the demo.
  if (inMemory) await connectReceivers(services, admin);
  const moments = [
    ...(await pastSales(services, departures, systemClock.now())),
    ...pastRequests(sender, previousSecretOf),
    ...pastStory(sender),
    ...(await pastPayments(services, sender, departures)),
  ];
  await liveThrough(moments, clock);
  log.level = level;
}

async function departuresOf({ flightLoads }: Services): Promise<readonly DepartureLoad[]> {
  const today = Temporal.Instant.fromEpochMilliseconds(systemClock.now())
    .toZonedDateTimeISO("UTC")
    .toPlainDate();
  const days = await Promise.all(
    Array.from({ length: scheduleDays }, async (_, day) =>
      flightLoads.ofDay(admin, today.add({ days: day })),
    ),
  );
  return days.flatMap(({ departures }) => departures);
}

/** The variables with which other commands find this demo: what it made, and the settings that it was given. */
function variablesFor(demoEnv: NodeJS.ProcessEnv, url: string): Readonly<Record<string, string>> {
  const ours = Object.entries(demoEnv).flatMap(([name, value]) =>
    value !== undefined && isOurs(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(ours), PORT: new URL(url).port };
}

const tokenTtlSeconds = 8 * 3_600;

/** A token for each role, for programs that call the API. */
async function tokensOf({ users, tokens }: Services) {
  const made = roles.map(async (role) => {
    const { user } = await users.ensureUser({
      name: `Demo ${role}`,
      email: `${role}@demo.example`,
    });
    return [role, await tokens.mint({ id: user.id, roles: [role] }, tokenTtlSeconds)] as const;
  });
  return Object.fromEntries(await Promise.all(made));
}

const random = (encoding: "hex" | "base64"): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding);

const allProviders = catalogue.map(({ id }) => id).join(",");

function demoEnvOf(keep: string | undefined, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // A log would push the sign-in link away.
  const env: NodeJS.ProcessEnv = { LOG_LEVEL: "error", ...given };
  if (keep !== undefined) return withFolder(resolve(keep), env);
  return env["DATABASE_URL"] === undefined ? withMemory(env) : withDatabase(env);
}

/** Adds a random secret, in memory only, for each provider that has none. */
function withDatabase(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const all = { WEBHOOK_PROVIDERS: allProviders, ...env };
  const config = readConfig(all);
  const secrets = secretStore(all, config.secretsDir);
  const missing = registeredProviders(config).flatMap(({ id, signature, secretPrefix }) => {
    const isMissing = secrets.webhookSecrets(id) === null;
    const made = isMissing ? developmentSecret(signature, secretPrefix) : null;
    return made === null ? [] : [[`${id.toUpperCase()}_WEBHOOK_SECRET`, made.secret]];
  });
  return { ...all, ...Object.fromEntries(missing) };
}

/** A folder of this process alone, which is removed when it exits. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-demo-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Sets what is not set to values in memory: database, keys, and a random secret for each provider. */
function withMemory(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = temporaryFolder();
  const defaults: NodeJS.ProcessEnv = {
    DATABASE_URL: "sqlite::memory:",
    JWT_SECRET: random("hex"),
    PERSONAL_DATA_KEY: random("base64"),
    // The demo must not use the files of a server in the current folder. The console adds providers to these.
    DATA_DIR: folder,
    SECRETS_DIR: join(folder, "secrets"),
    PROVIDERS_DIR: join(folder, "providers"),
    WEBHOOK_PROVIDERS: allProviders,
    // The receivers of the demo are on this machine.
    DESTINATIONS_ALLOW_PRIVATE: "true",
    CODE_HOST_WEBHOOK_SECRET_PREVIOUS: random("hex"),
  };
  const providers = registeredProviders(readConfig({ ...defaults, ...env }));
  for (const { id, signature, secretPrefix } of providers) {
    const made = developmentSecret(signature, secretPrefix);
    if (made !== null) defaults[`${id.toUpperCase()}_WEBHOOK_SECRET`] = made.secret;
  }
  return { ...defaults, ...env };
}

/** Stores everything in one folder, which `skyhook serve` finds with the same variables. */
function withFolder(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const all = { WEBHOOK_PROVIDERS: allProviders, ...env };
  const [secrets, providers] = [join(folder, "secrets"), join(folder, "providers")];
  const kept = { ...all, DATA_DIR: folder, SECRETS_DIR: secrets, PROVIDERS_DIR: providers };
  makePrivateFolder(folder);
  createMissingSecrets(registeredProviders(readConfig(kept)), secretStore(kept, kept.SECRETS_DIR));
  return kept;
}
