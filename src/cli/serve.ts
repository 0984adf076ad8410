import { createApp } from "../app.ts";
import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { equalSecrets, secretStore } from "../secrets.ts";
import { createServices } from "../services.ts";

/** Requests larger than any provider may send are cut off by the server itself. */
const maxRequestBytes = 64 * 1024 * 1024;
/** A connection on which nothing moves for this long is closed; heartbeats keep feeds alive. */
const idleTimeoutSeconds = 30;
/** All of a stop fits in this; then the process ends whatever is left. */
const stopTimeoutMs = 9_500;

/** `skyhook serve`: runs until it is told to stop. Resolves when it serves. */
export async function serve(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  const log = createLog({ level: config.logLevel, format: config.logFormat });
  const secrets = secretStore(env, config.secretsDir);
  const services = createServices(config, secrets, log);
  const app = createApp(services);
  app.listen({
    hostname: config.host,
    port: config.port,
    maxRequestBodySize: maxRequestBytes,
    idleTimeout: idleTimeoutSeconds,
    development: false,
  });
  await services.start();

  const missing = config.providers.filter((id) => secrets.webhookSecrets(id) === null);
  for (const id of missing) {
    log.warn(
      `${id} has no secret yet: set ${id.toUpperCase()}_WEBHOOK_SECRET; until then it answers 503`,
    );
  }
  for (const [one, other] of equalSecrets(secrets, config.providers)) {
    log.warn(`${one} and ${other} have the same secret: a delivery of one verifies at the other`);
  }
  log.info(
    { database: config.databaseUrl, pid: process.pid },
    `skyhook serves on ${app.server?.url.href}`,
  );

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info(`${signal}: stopping`);
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    services.drain();
    await app.server?.stop();
    await services.stop();
    log.info("stopped");
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
}
