import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Argument, type Command } from "commander";

import { type Role, roles } from "../base/context.ts";
import { makeId } from "../base/ids.ts";
import { importFlights } from "../booking/flights/import-flights.ts";
import { readConfig } from "../config/config.ts";
import { registeredProviders } from "../config/providers.ts";
import { secretStore } from "../config/secrets.ts";
import { catalogue } from "../inbound/providers/catalogue.ts";
import { developmentSecret } from "../inbound/signatures/development-secret.ts";
import { hasSharedSecret } from "../inbound/signatures/scheme.ts";
import type { Services } from "../services.ts";

import { example } from "./arguments.ts";
import { isInMemory } from "./database.ts";
import { demoFlights } from "./demo/flights.ts";
import { liveThrough, pastClock } from "./demo/past.ts";
import { isOurs, publishDemo, runningDemo } from "./demo/state.ts";
import { contextOf, historyMs, pastOf } from "./demo/story.ts";
import { sendSamples } from "./demo/webhooks.ts";
import { welcome } from "./demo/welcome.ts";
import { serve } from "./serve.ts";

const flightDays = 30;
const tokenTtlSeconds = 8 * 3_600;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("demo")
    .description("run the service in memory, with sample flights, tokens and webhooks")
    .addHelpText("after", example("skyhook demo"))
    .action(() => demo(env));
  command
    .command("token")
    .description("print an access token of the demo that runs, for curl and other clients")
    .addArgument(new Argument("<role>", "role of the token").choices(roles))
    .addHelpText("after", example("skyhook demo token operator"))
    .action((role: Role) => console.log(runningDemo(env).tokens[role]));
}

/**
 * `skyhook demo`: runs the service with sample data and a past of three days. Unless DATABASE_URL is given, everything
 * is lost at the end: it is in memory, and what the console adds in a temporary folder.
 */
async function demo(env: NodeJS.ProcessEnv): Promise<void> {
  const demoEnv = demoEnvOf(env);
  const clock = pastClock();
  const { services, log, url } = await serve(demoEnv, { clock, makeId, random: Math.random });
  const { secretsDir, publicUrl } = services.config;
  const secrets = secretStore(demoEnv, secretsDir);
  const sender = {
    url,
    publicUrl,
    providers: services.registered().filter(({ signature }) => hasSharedSecret(signature)),
    secretOf: (id: string) => secrets.webhookSecrets(id)?.current ?? null,
    now: () => clock.now(),
  };
  const today = new Date(clock.now());
  const flights = demoFlights(today, flightDays).map((plan, index) => ({ line: index + 1, plan }));
  await importFlights(services.storage, flights, new Date(today.getTime() - historyMs));
  // A database that is kept has a past after its first demo.
  const newest = { limit: 1, withTotal: false, direction: "forward", cursor: null } as const;
  const { data } = await services.events.list(contextOf("demo", "admin"), newest, {});
  if (data.length === 0) {
    const { level } = log;
    // The log of the past would be thousands of lines.
    log.level = "silent";
    const past = await pastOf(services, sender);
    clock.setBack(historyMs);
    // Their receivers end with the demo.
    if (isInMemory(services.config)) await connectReceivers(services);
    await liveThrough(past, clock, services);
    log.level = level;
  }
  publishDemo({ variables: variablesFor(demoEnv, url), tokens: await tokensOf(services) }, env);
  console.log(await welcome(services, url, flights.length, flightDays));
  sendSamples(sender);
}

/** Creates destinations of several kinds. Their receivers are in this process: all answer 200 but one. */
async function connectReceivers({ destinations }: Services): Promise<void> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new Response(null, { status: request.url.endsWith("/warehouse") ? 503 : 200 }),
  });
  server.unref();
  for (const { name, ...input } of receivers) {
    await destinations.create(contextOf("demo", "admin"), {
      name,
      url: `${server.url.origin}/${name}`,
      ...input,
    });
  }
}

const receivers = [
  {
    name: "on-call",
    format: "slack",
    filter: 'event.severity == "error" || event.severity == "warning"',
    alerts: true,
  },
  { name: "finance", format: "json", filter: 'event.type.startsWith("payment")' },
  { name: "staging", format: "cloudevents", filter: 'event.provider != "bookings"' },
  { name: "warehouse", format: "json", filter: 'event.type == "deploy.error"' },
] as const;

/** The variables with which other commands find this demo: what it made, and the settings that it was given. */
function variablesFor(demoEnv: NodeJS.ProcessEnv, url: string): Readonly<Record<string, string>> {
  const ours = Object.entries(demoEnv).flatMap(([name, value]) =>
    value !== undefined && isOurs(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(ours), PORT: new URL(url).port };
}

/** A token for each role, for programs that call the API. */
async function tokensOf({ users, tokens }: Services) {
  const made = roles.map(async (role) => {
    const named = { name: `Demo ${role}`, email: `${role}@demo.example` };
    const { user } = await users.ensureUser(named);
    return [role, await tokens.mint({ id: user.id, roles: [role] }, tokenTtlSeconds)] as const;
  });
  return Object.fromEntries(await Promise.all(made));
}

/** Adds what is missing: a database, its keys and files, and a random secret for each provider. */
function demoEnvOf(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = {
    // A log would push the sign-in link away.
    LOG_LEVEL: "error",
    WEBHOOK_PROVIDERS: catalogue.map(({ id }) => id).join(","),
    ...(given["DATABASE_URL"] === undefined && memory()),
    ...given,
  };
  const config = readConfig(env);
  const secrets = secretStore(env, config.secretsDir);
  const missing = registeredProviders(config).flatMap(({ id, signature, secretPrefix }) => {
    const isMissing = secrets.webhookSecrets(id) === null;
    const made = isMissing ? developmentSecret(signature, secretPrefix) : null;
    return made === null ? [] : [[`${id.toUpperCase()}_WEBHOOK_SECRET`, made.secret]];
  });
  return { ...env, ...Object.fromEntries(missing) };
}

function memory(): NodeJS.ProcessEnv {
  const random = () => crypto.getRandomValues(new Uint8Array(32));
  const folder = mkdtempSync(join(tmpdir(), "skyhook-demo-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return {
    DATABASE_URL: "sqlite::memory:",
    JWT_SECRET: random().toHex(),
    PERSONAL_DATA_KEY: random().toBase64(),
    // The demo must not use the files of a server in the current folder. The console adds providers to these.
    DATA_DIR: folder,
    SECRETS_DIR: join(folder, "secrets"),
    PROVIDERS_DIR: join(folder, "providers"),
    // The receivers of the demo are on this machine.
    DESTINATIONS_ALLOW_PRIVATE: "true",
  };
}
