import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Command } from "commander";

import { makeId } from "../../base/ids.ts";
import { endOutdatedOffers } from "../../booking/changes/ended-offers.ts";
import { importFlights } from "../../booking/flights/import/import-flights.ts";
import { catalogue } from "../../inbound/providers/catalogue.ts";
import { developmentSecret } from "../../inbound/signatures/development-secret.ts";
import { serve } from "../host/serve.ts";
import { example } from "../kit/arguments.ts";

import { demoFlights } from "./flights.ts";
import { contextOf, historyMs, liveThrough, minuteMs, pastClock } from "./past.ts";
import { connectReceivers } from "./receivers.ts";
import { publishDemo } from "./state.ts";
import { isInOutage, pastOf } from "./story.ts";
import { playScenes } from "./webhooks.ts";
import { welcome } from "./welcome.ts";

const flightDays = 30;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("demo")
    .description(
      `run the service in memory with sample data: flights of the next ${flightDays} days; the webhooks and bookings of three days, with a bad deploy, a refund and rejected webhooks; four destinations, one of which was down. DATABASE_URL keeps all of it`,
    )
    .addHelpText("after", example("skyhook demo", "skyhook --demo console --role admin"))
    .action(() => demo(env));
}

/**
 * `skyhook demo`: runs the service with sample data and a past of three days, in memory unless DATABASE_URL is given.
 */
async function demo(given: NodeJS.ProcessEnv): Promise<void> {
  const secrets = new Map(
    catalogue.flatMap(({ id, signature, secretPrefix }) => {
      const made = developmentSecret(signature, secretPrefix);
      return made === null ? [] : [[id, made.secret] as const];
    }),
  );
  const isKept = given["DATABASE_URL"] !== undefined;
  const env = {
    LOG_LEVEL: "error",
    ...given,
    ...(!isKept && memory()),
    ...providers(secrets),
    // The demo's receivers are on this machine.
    DESTINATIONS_ALLOW_PRIVATE: "true",
  };
  const clock = pastClock();
  const { services, log, url } = await serve(env, { clock, makeId, random: Math.random });
  const sender = { url, secrets, now: () => clock.now() };
  const { level } = log;
  // The log of the past would be thousands of lines.
  log.level = "silent";
  const today = new Date(clock.now());
  const flights = demoFlights(today, flightDays).map((plan, index) => ({ line: index + 1, plan }));
  await importFlights(
    { storage: services.storage, endOutdated: endOutdatedOffers },
    flights,
    new Date(today.getTime() - historyMs),
  );
  // A database that is kept has a past after its first demo.
  const newest = { limit: 1, withTotal: false, direction: "forward", cursor: null } as const;
  const { data } = await services.events.list(contextOf("demo", "admin"), newest, {});
  const isFirst = data.length === 0;
  const past = isFirst ? await pastOf(services, sender) : [];
  if (isFirst) clock.setBack(historyMs);
  const changes = await connectReceivers(services, () => isInOutage(clock.now()));
  if (isFirst) await liveThrough([...past, ...changes], clock, services);
  log.level = level;
  publishDemo({ ...env, PORT: new URL(url).port }, given);
  const about = `${flights.length} flights in the next ${flightDays} days`;
  console.log(await welcome(services, url, about));
  // The scenes that follow differ from those of the past, also where the demo runs again.
  playScenes(sender, Math.floor(clock.now() / minuteMs));
}

/** All providers of the catalogue, with the demo's own secrets. */
const providers = (secrets: ReadonlyMap<string, string>): NodeJS.ProcessEnv => ({
  WEBHOOK_PROVIDERS: Array.from(secrets.keys()).join(","),
  ...Object.fromEntries(
    Array.from(secrets, ([id, secret]) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, secret]),
  ),
});

/** Settings that keep everything in memory, and use no file of a server in the current folder. */
function memory(): NodeJS.ProcessEnv {
  const random = () => crypto.getRandomValues(new Uint8Array(32));
  // The console adds providers to it.
  const folder = mkdtempSync(join(tmpdir(), "skyhook-demo-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return {
    DATABASE_URL: "sqlite::memory:",
    JWT_SECRET: random().toHex(),
    PERSONAL_DATA_KEY: random().toBase64(),
    DATA_DIR: folder,
    SECRETS_DIR: join(folder, "secrets"),
    PROVIDERS_DIR: join(folder, "providers"),
    // The only receivers of the demo are its own.
    OPERATOR_GATEWAY_URL: undefined,
  };
}
