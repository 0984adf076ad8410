import type { Command } from "commander";

import { mkdirSync } from "node:fs";
import { devNull } from "node:os";
import { join, resolve } from "node:path";

import { systemClock } from "../base/clock.ts";
import { readConfig } from "../config/config.ts";
import { importFlights } from "../booking/flights/import-flights.ts";
import { demoSchedule } from "../booking/flights/schedule.ts";
import { secretStore } from "../config/secrets.ts";

import { example } from "./arguments.ts";
import { bookSeats } from "./demo-bookings.ts";
import { deliverSamples } from "./demo-deliveries.ts";
import { quoted, welcome } from "./demo-welcome.ts";
import { createMissingSecrets } from "./secrets.ts";
import { serve } from "./serve.ts";

const scheduleDays = 60;
const scheduleSeed = 1;

interface DemoOptions {
  /** A folder for all that would else be gone when the demo ends. */
  readonly keep?: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("demo")
    .description("run the service in memory, with sample flights, tokens and webhooks")
    .option("--keep <folder>", "store everything in this folder instead of in memory")
    .addHelpText("after", example("skyhook demo"))
    .action((options: DemoOptions) => demo(options, env));
}

/**
 * `skyhook demo`: the whole service with something in it. Unless a folder or DATABASE_URL is given, all
 * of it lives in memory, keys and secrets too, and is gone when it stops.
 */
export async function demo({ keep }: DemoOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const demoEnv = keep === undefined ? withMemory(env) : withFolder(resolve(keep), env);
  const { services, url } = await serve(demoEnv);
  const { config } = services;
  const now = new Date(systemClock.now());
  const flights = await importFlights(
    services.storage,
    demoSchedule(now, scheduleDays, scheduleSeed),
    now,
  );
  await bookSeats(services);
  const kept = keep === undefined ? null : resolve(keep);
  const inMemory = config.databaseUrl === "sqlite::memory:";
  const made = madeFor(demoEnv, env, url);
  console.log(await welcome(services, url, { flights, days: scheduleDays, kept, inMemory, made }));
  const secrets = secretStore(demoEnv, config.secretsDir);
  deliverSamples(url, config.providers, (id) => secrets.webhookSecrets(id)?.current ?? null);
}

/** What other commands need to find this demo: what it made, and its port, as the shell writes it. */
function madeFor(demoEnv: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv, url: string): string {
  const made = Object.entries(demoEnv).filter(([name, value]) => value !== env[name]);
  const all = { ...Object.fromEntries(made), PORT: new URL(url).port };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(" ");
}

const random = (encoding: "hex" | "base64"): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding);

/** What is not set lives in memory: database, keys, and a random secret for each provider. */
function withMemory(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env["DATABASE_URL"] !== undefined) return env;
  const defaults: NodeJS.ProcessEnv = {
    DATABASE_URL: "sqlite::memory:",
    JWT_SECRET: random("hex"),
    PERSONAL_DATA_KEY: random("base64"),
    // What a server keeps in the folder that this is started in is not the demo's: there is nothing in this one.
    DATA_DIR: devNull,
    SECRETS_DIR: devNull,
  };
  for (const id of readConfig({ ...defaults, ...env }).providers) {
    defaults[`${id.toUpperCase()}_WEBHOOK_SECRET`] = random("hex");
  }
  return { ...defaults, ...env };
}

/** Everything in one folder, as `skyhook serve` finds it again with the same two variables. */
function withFolder(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = { ...env, DATA_DIR: folder, SECRETS_DIR: join(folder, "secrets") };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  createMissingSecrets(readConfig(kept).providers, secretStore(kept, kept.SECRETS_DIR));
  return kept;
}
