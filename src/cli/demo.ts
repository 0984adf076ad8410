import { systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { roles } from "../context.ts";
import { importFlights } from "../flights/import-flights.ts";
import { demoSchedule } from "../flights/schedule.ts";
import { secretStore } from "../secrets.ts";
import type { Services } from "../services.ts";
import type { Provider, SampleDelivery } from "../webhooks/provider.ts";
import { providerById } from "../webhooks/providers.ts";
import { signedSample } from "../webhooks/signed-sample.ts";

import { serve } from "./serve.ts";

const scheduleDays = 60;
const scheduleSeed = 1;
const tokenTtlSeconds = 8 * 3_600;
const deliveryIntervalMs = 5_000;

/**
 * `skyhook demo`: the whole service with something in it. Without DATABASE_URL all of it lives in
 * memory, keys and secrets too, and is gone when it stops.
 */
export async function demo(env: NodeJS.ProcessEnv): Promise<void> {
  const demoEnv = withDemoDefaults(env);
  const config = readConfig(demoEnv);
  const { services, url } = await serve(config, demoEnv);
  const now = new Date(systemClock.now());
  const count = await importFlights(
    services.storage,
    demoSchedule(now, scheduleDays, scheduleSeed),
    now,
  );
  console.log(await welcome(services, url, count));
  const secrets = secretStore(demoEnv, config.secretsDir);
  deliverSamples(url, config.providers, (id) => secrets.webhookSecrets(id)?.current ?? null);
}

/** What is not set lives in memory: database, keys, and a random secret for each provider. */
function withDemoDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env["DATABASE_URL"] !== undefined) return env;
  const random = (encoding: "hex" | "base64") =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding);
  const defaults: NodeJS.ProcessEnv = {
    DATABASE_URL: "sqlite::memory:",
    JWT_SECRET: random("hex"),
    PERSONAL_DATA_KEY: random("base64"),
  };
  for (const id of readConfig({ ...defaults, ...env }).providers) {
    defaults[`${id.toUpperCase()}_WEBHOOK_SECRET`] = random("hex");
  }
  return { ...defaults, ...env };
}

async function welcome(services: Services, url: string, flights: number): Promise<string> {
  const lines = await Promise.all(
    roles.map(async (role) => {
      const { user } = await services.users.ensureUser({
        name: `Demo ${role}`,
        email: `${role}@demo.example`,
      });
      const token = await services.tokens.mint({ id: user.id, roles: [role] }, tokenTtlSeconds);
      return `export ${role.toUpperCase()}_TOKEN=${token}`;
    }),
  );
  const tomorrow = new Date(systemClock.now() + 86_400_000).toISOString().slice(0, 10);
  return [
    "",
    `${flights} flights of ${scheduleDays} days, and sample webhooks every ${deliveryIntervalMs / 1_000} s. Ctrl-C ends it.`,
    "",
    `See it in the console, ${url}console: sign in with the operator's token below.`,
    "",
    "Paste these into another terminal:",
    ...lines,
    "",
    "and try:",
    `curl "${url}v1/api/flights?origin=JFK&destination=LHR&departureDate=${tomorrow}"`,
    `curl -H "Authorization: Bearer $OPERATOR_TOKEN" "${url}v1/events?limit=3"`,
    `curl -N -H "Authorization: Bearer $OPERATOR_TOKEN" "${url}v1/feed"`,
    "",
  ].join("\n");
}

/** Posts one signed sample after another, of each provider and event in turn, until the process ends. */
function deliverSamples(
  url: string,
  providerIds: readonly string[],
  secretOf: (id: string) => string | null,
): void {
  const samples = providerIds.flatMap((id) => {
    const provider = providerById(id);
    const secret = secretOf(id);
    if (provider === undefined || secret === null) return [];
    return Object.values(provider.samples).map((sample) => ({ provider, secret, sample }));
  });
  let turn = 0;
  setInterval(() => {
    const next = samples[turn % samples.length];
    turn += 1;
    if (next !== undefined) void deliver(url, next);
  }, deliveryIntervalMs).unref();
}

interface Sample {
  readonly provider: Provider;
  readonly secret: string;
  readonly sample: SampleDelivery;
}

async function deliver(url: string, { provider, secret, sample }: Sample): Promise<void> {
  const fresh = { id: crypto.randomUUID(), now: new Date(systemClock.now()) };
  const { headers, bytes } = signedSample(provider, sample, secret, fresh);
  try {
    await fetch(`${url}webhooks/${provider.id}`, { method: "POST", headers, body: bytes });
  } catch {
    // The service is stopping.
  }
}
