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
  /** A folder that keeps the data after the demo ends. */
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
 * `skyhook demo`: runs the service with sample data. Unless a folder or DATABASE_URL is given, everything,
 * keys and secrets included, is in memory and lost at the end.
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

/** The variables that other commands need to find this demo, in the shell's notation. */
function madeFor(demoEnv: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv, url: string): string {
  const made = Object.entries(demoEnv).filter(([name, value]) => value !== env[name]);
  const all = { ...Object.fromEntries(made), PORT: new URL(url).port };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(" ");
}

const random = (encoding: "hex" | "base64"): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding);

/** Sets what is not set to values in memory: database, keys, and a random secret for each provider. */
function withMemory(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env["DATABASE_URL"] !== undefined) return env;
  const defaults: NodeJS.ProcessEnv = {
    DATABASE_URL: "sqlite::memory:",
    JWT_SECRET: random("hex"),
    PERSONAL_DATA_KEY: random("base64"),
    // The demo must not use the files of a server in the current folder. This path contains nothing.
    DATA_DIR: devNull,
    SECRETS_DIR: devNull,
  };
  for (const id of readConfig({ ...defaults, ...env }).providers) {
    defaults[`${id.toUpperCase()}_WEBHOOK_SECRET`] = random("hex");
  }
  return { ...defaults, ...env };
}

/** Stores everything in one folder, which `skyhook serve` finds with the same two variables. */
function withFolder(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = { ...env, DATA_DIR: folder, SECRETS_DIR: join(folder, "secrets") };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  createMissingSecrets(readConfig(kept).providers, secretStore(kept, kept.SECRETS_DIR));
  return kept;
}
