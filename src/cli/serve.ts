import type { Command } from "commander";

import { closeSync, openSync } from "node:fs";

import { createApp } from "../app.ts";
import { type Config, readConfig } from "../config/config.ts";
import { collectErrors, ConfigError } from "../config/errors.ts";
import { misspeltSettings } from "../config/misspelt.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { requireSecrets, secretStore } from "../config/secrets.ts";
import { createServices, type Services, type Surroundings } from "../services.ts";
import { lockFolder } from "../db/sqlite/server-lock.ts";
import { databaseFile } from "../db/open.ts";
import { withoutPassword } from "../db/without-password.ts";

import { example } from "./arguments.ts";
import { withDatabase } from "./database.ts";
import { codeOf, messageOf } from "./failures.ts";
import { programName } from "./program.ts";
import { isLoopback } from "./request.ts";
import { warnOfLostKeys, warnOfOwnKeys, warnOfSecrets } from "./secret-warnings.ts";

/** Far beyond what any door takes: each counts for itself and answers in our words. */
const maxRequestBytes = 2 ** 40;
/** A connection on which nothing moves for this long is closed; heartbeats keep feeds alive. */
const idleTimeoutSeconds = 30;
/** How long a stop waits for requests under way; what has not arrived by then is cut off. */
const requestPatienceMs = 4_000;
/** How long a stop waits for the last lines of the log; a full disk or a reader that stopped takes none. */
const logPatienceMs = 500;
/** All of a stop fits in this; then the process ends whatever is left. */
const stopTimeoutMs = 9_500;

/** A compiled program starts with the JIT held back: code that runs once is not worth compiling. */
const usualJitPolicy = 1;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("serve")
    .description("run the service")
    .option("--port <port>", "port to listen on; overrides PORT")
    .addHelpText("after", example("skyhook serve --port 8080"))
    .action(async ({ port }: { readonly port?: string }) => {
      await serve(port === undefined ? env : { ...env, PORT: port });
    });
}

/**
 * `skyhook serve`: runs until it is told to stop. Resolves when it serves, with the services and the
 * address to reach them at on this machine. Throws an error that says what to do when it cannot start.
 * `surroundings`: by default the machine's own.
 */
export async function serve(env: NodeJS.ProcessEnv, surroundings?: Surroundings): Promise<Serving> {
  const config = readServerConfig(env);
  const { logLevel: level, logFormat: format } = config;
  // A start may have to wait for its database, and would end at once by a signal that nobody hears.
  const isOnTerminal = hasTerminal();
  let isHungUp = false;
  const remember = () => void (isHungUp = true);
  process.on("SIGHUP", remember);
  const log = createLog({ level, format, traces: config.otlpEndpoint !== null });
  const secrets = secretStore(env, config.secretsDir);
  const file = databaseFile(config.databaseUrl);
  const lock = await withDatabase(config, async () => (file === null ? null : lockFolder(file)));
  const services = await withDatabase(config, () =>
    createServices(config, secrets, log, surroundings),
  );
  lock?.opened();
  const app = createApp(services);
  try {
    app.listen({
      hostname: config.host,
      port: config.port,
      maxRequestBodySize: maxRequestBytes,
      idleTimeout: idleTimeoutSeconds,
      development: false,
      // The framework lets a second program share the port, and each would get some of the requests.
      reusePort: false,
    });
  } catch (error) {
    await services.stop();
    throw listenFault(error, config);
  }
  try {
    await services.start();
  } catch (error) {
    await app.server?.stop(true);
    await services.stop();
    throw error;
  }

  warnOfSecrets(secrets, config, log);
  for (const warning of misspeltSettings(env)) log.warn(warning);
  for (const warning of unencrypted(config)) log.warn(warning);
  warnOfOwnKeys(config, log);
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info(`${signal}: stopping`);
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    services.drain();
    await Promise.race([app.server?.stop(), Bun.sleep(requestPatienceMs)]);
    await app.server?.stop(true);
    await services.stop();
    lock?.release();
    log.info("stopped");
    await log.drain(logPatienceMs);
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
  const hangUp = () => {
    // A terminal that closes says so by the same signal.
    if (isOnTerminal && !hasTerminal()) void stop("SIGHUP");
    else reloadSecrets(services, log, () => warnOfSecrets(secrets, config, log));
  };
  process.on("SIGHUP", hangUp).off("SIGHUP", remember);

  const url = urlHere(config.host, app.server?.port ?? config.port);
  log.info(
    { database: withoutPassword(config.databaseUrl), pid: process.pid },
    `skyhook serves on ${app.server?.url.href}`,
  );
  log.info(`open ${url}console and sign in with \`${programName} console\``);
  if (isHungUp) hangUp();
  warnOfLostKeys(services.storage, secrets, config, log);
  Bun.unsafe.setJITPolicy(usualJitPolicy);
  return { services, url };
}

/** The server's URL for a browser on this machine. */
function urlHere(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://localhost:${port}/`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
}

/** Throws a `ConfigError` with all that is wrong in settings and secrets. */
function readServerConfig(env: NodeJS.ProcessEnv): Config {
  try {
    const [config] = collectErrors([() => readConfig(env), () => requireSecrets(env)]);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // What is missing may be there under a name that was misspelt.
    throw new ConfigError(...error.messages, ...misspeltSettings(env));
  }
}

/** Takes up changed secrets, or says why not and goes on with those of before. */
function reloadSecrets(services: Services, log: Log, warn: () => void): void {
  try {
    const changed = services.reloadSecrets();
    const what = changed.length === 0 ? "none has changed" : `changed: ${changed.join(", ")}`;
    log.info(`SIGHUP: webhook secrets read again, ${what}`);
    warn();
  } catch (error) {
    log.error(`SIGHUP: ${messageOf(error)}; the webhook secrets of before stay in force`);
  }
}

/** Whether this process can reach a terminal that controls it. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

interface Serving {
  readonly services: Services;
  /** Ends with a slash. */
  readonly url: string;
}

/** What is fetched from or sent to another machine for all in between to read, and to change. */
function unencrypted({
  jwksUrl,
  operatorGatewayUrl,
  otlpEndpoint,
  otlpHeaders,
}: Config): readonly string[] {
  const isOpen = (url: string | null) =>
    url !== null && url.startsWith("http:") && !isLoopback(url);
  return [
    ...(isOpen(jwksUrl)
      ? ["JWKS_URL is not https: whoever stands in between can let anyone in"]
      : []),
    ...(isOpen(operatorGatewayUrl)
      ? ["OPERATOR_GATEWAY_URL is not https: whoever stands in between reads all notifications"]
      : []),
    ...(isOpen(otlpEndpoint) && otlpHeaders !== null
      ? [
          "OTEL_EXPORTER_OTLP_ENDPOINT is not https: whoever stands in between reads the headers for it",
        ]
      : []),
  ];
}

/** A failure to listen, with what to do about it. */
function listenFault(error: unknown, { host, port }: Config): unknown {
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return new Error(`Port ${port} is taken: stop the program that has it, or set another PORT`);
    case "EACCES":
      return new Error(`Port ${port} is not allowed to this user: set PORT to 1024 or more`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Error(`HOST ${host} is no address of this machine: set HOST=0.0.0.0 for all`);
    default:
      return new Error(`Cannot listen on ${host}:${port}: check HOST and PORT`, { cause: error });
  }
}
