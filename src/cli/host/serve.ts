import { closeSync, openSync } from "node:fs";

import type { Command } from "commander";

import { createApp } from "../../app.ts";
import { errorCode } from "../../base/errors.ts";
import { withTimeout } from "../../base/in-time.ts";
import { isLoopback, urlHere } from "../../base/loopback.ts";
import { programName } from "../../base/program-name.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { collectErrors, ConfigError } from "../../config/errors.ts";
import { misspeltSettings } from "../../config/misspelt.ts";
import { requireSecrets, secretStore } from "../../config/secrets.ts";
import { databaseFile } from "../../db/open.ts";
import { lockFolder } from "../../db/sqlite/server-lock.ts";
import { withoutPassword } from "../../db/without-password.ts";
import { createServices, type Services } from "../../services.ts";
import { createLog, type Log, type ProgramLog } from "../../telemetry/log.ts";
import { handleUncaught } from "../../telemetry/uncaught.ts";
import type { Surroundings } from "../../wiring/platform.ts";
import { example } from "../kit/arguments.ts";
import { isInMemory, requireNotEmptied, withDatabase } from "../kit/database.ts";
import { messageOf } from "../kit/errors.ts";

import { warnOfLostKeys, warnOfOwnKeys, warnOfSecrets } from "./checks/secret-warnings.ts";

/** Far above every route's own limit, which answers with a problem document. */
const maxRequestBytes = 2 ** 40;
/** An idle connection is closed after this time. Heartbeats keep feeds open. */
const idleTimeoutSeconds = 30;
/** How long a stop waits for requests in flight, and still listens: load balancers see `/readyz` at 503. */
const drainMs = 4_000;
/** After SIGTERM, the server listens at least this long, so that a load balancer that checks every second notices. */
const minDrainMs = 1_000;
/** How long the last requests may take after that, before their connections are closed. */
const requestPatienceMs = 1_500;
const drainPollMs = 20;
/** How long a stop waits for the last log lines: a full disk or a stopped reader accepts none. */
const logPatienceMs = 500;
/** The time limit of a stop; then the process ends in any case. */
const stopTimeoutMs = 9_500;

/** Signals to load all secrets again. A terminal that closes sends the first too; commands send the second. */
const reloading = ["SIGHUP", "SIGUSR2"] as const;

/** The compiled program delays the JIT at its start, because code that runs once is not worth compiling. */
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
 * `skyhook serve`: runs until a signal stops it. Resolves once it serves, with the services and their URL on
 * this machine. Throws an error that says what to do if it cannot start. `surroundings`: by default those of
 * the machine.
 */
export async function serve(env: NodeJS.ProcessEnv, surroundings?: Surroundings): Promise<Serving> {
  const config = readServerConfig(env);
  const { logLevel: level, logFormat: format } = config;
  // Without a handler, SIGHUP would end a process that still waits for its database.
  const isOnTerminal = hasTerminal();
  let isHungUp = false;
  const remember = () => void (isHungUp = true);
  for (const signal of reloading) process.on(signal, remember);
  const log = createLog({ level, format, traces: config.otlpEndpoint !== null });
  handleUncaught(log);
  const secrets = secretStore(env, config.secretsDir);
  const file = databaseFile(config.databaseUrl);
  const lock = await withDatabase(config, async () => {
    requireNotEmptied(config);
    return file === null ? null : lockFolder(file);
  });
  const services = await withDatabase(config, () =>
    createServices(config, secrets, log, surroundings),
  );
  lock?.opened();
  await services.prepare();
  const app = createApp(services);
  try {
    app.listen({
      hostname: config.host,
      port: config.port,
      maxRequestBodySize: maxRequestBytes,
      idleTimeout: idleTimeoutSeconds,
      development: false,
      // By default the framework lets a second program share the port and receive some of the requests.
      reusePort: false,
    });
  } catch (error) {
    await services.stop();
    throw listenError(error, config);
  }
  try {
    await services.start();
  } catch (error) {
    await app.server?.stop(true);
    await services.stop();
    throw error;
  }

  warnOfSecrets(services.registered(), secrets, config, log);
  for (const warning of misspeltSettings(env)) log.warn(warning);
  for (const warning of unencrypted(config)) log.warn(warning);
  warnOfOwnKeys(config, log);
  if (isInMemory(config)) {
    log.warn(
      "the database is in memory: everything is lost when the server stops. To keep it, unset DATABASE_URL",
    );
  }
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info(`${signal}: stopping`);
    setTimeout(killItself, stopTimeoutMs).unref();
    services.drain();
    await drained(app.server, signal === "SIGTERM" ? minDrainMs : 0);
    await withTimeout(Promise.resolve(app.server?.stop()), requestPatienceMs, () => {});
    await app.server?.stop(true);
    await services.stop();
    lock?.release();
    log.info("stopped");
    await log.drain(logPatienceMs);
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
  const loadAgain = () => {
    if (!reload(services, log)) return;
    const registered = services.registered();
    const unread = registered.flatMap(({ provider }) => secrets.unreadFiles(provider.id));
    lock?.reloaded(unread.map(({ variable }) => variable));
    warnOfSecrets(registered, secrets, config, log);
  };
  const hangUp = () => {
    // A closing terminal sends the same signal.
    if (isOnTerminal && !hasTerminal()) void stop("SIGHUP");
    else loadAgain();
  };
  process.on("SIGHUP", hangUp).on("SIGUSR2", loadAgain);
  for (const signal of reloading) process.off(signal, remember);

  const url = `${urlHere(config.host, app.server?.port ?? config.port)}/`;
  log.info(
    { database: withoutPassword(config.databaseUrl), pid: process.pid },
    `skyhook serves on ${app.server?.url.href}`,
  );
  log.info(`open ${url}console and sign in with \`${programName} console\``);
  if (isHungUp) hangUp();
  warnOfLostKeys(services.storage, secrets, config, log);
  Bun.unsafe.setJITPolicy(usualJitPolicy);
  return { services, log, url };
}

/** Resolves when no request is in flight, after `minMs` or later; in any case after `drainMs`. */
async function drained(server: Pick<Bun.Server<unknown>, "pendingRequests"> | null, minMs: number) {
  const startedMs = performance.now();
  for (;;) {
    const passedMs = performance.now() - startedMs;
    const isBusy = (server?.pendingRequests ?? 0) > 0;
    if (passedMs >= drainMs || (passedMs >= minMs && !isBusy)) return;
    await Bun.sleep(drainPollMs);
  }
}

/** An ordinary exit closes the database, which waits for the disk: if that is what hangs, it never ends. */
function killItself(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Throws a `ConfigError` that names all invalid settings and secrets. */
function readServerConfig(env: NodeJS.ProcessEnv): Config {
  try {
    const [config] = collectErrors([() => readConfig(env), () => requireSecrets(env)]);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A missing setting may be present under a misspelt name.
    throw new ConfigError(...error.messages, ...misspeltSettings(env));
  }
}

/** Reloads provider files and secrets. If one is invalid, logs why, keeps everything as it is and returns false. */
function reload(services: Services, log: Log): boolean {
  try {
    const changed = services.reload();
    const what = changed.length === 0 ? "none changed" : `changed: ${changed.join(", ")}`;
    log.info(`SIGHUP: webhook secrets reloaded, ${what}`);
    return true;
  } catch (error) {
    const messages = error instanceof ConfigError ? error.messages : [messageOf(error)];
    for (const message of messages) {
      log.error(`SIGHUP: ${message}; keeping the previous webhook secrets and provider files`);
    }
    return false;
  }
}

/** Whether this process has a controlling terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

export interface Serving {
  readonly services: Services;
  readonly log: ProgramLog;
  /** Ends with a slash. */
  readonly url: string;
}

/** Warnings of settings that send or fetch unencrypted data over the network. */
function unencrypted(config: Config): readonly string[] {
  const urls: readonly (readonly [string | null, string])[] = [
    [config.jwksUrl, "JWKS_URL is not https: an attacker on the network can forge access tokens"],
    [
      config.operatorGatewayUrl,
      "OPERATOR_GATEWAY_URL is not https: an attacker on the network can read all notifications",
    ],
    [
      config.otlpHeaders === null ? null : config.otlpEndpoint,
      "OTEL_EXPORTER_OTLP_ENDPOINT is not https: an attacker on the network can read its headers",
    ],
  ];
  return urls.flatMap(([url, warning]) =>
    url !== null && url.startsWith("http:") && !isLoopback(url) ? [warning] : [],
  );
}

/** Adds advice to an error of listening. */
function listenError(error: unknown, { host, port }: Config): unknown {
  const noAddress = `HOST ${host} is not an address of this machine: set HOST=0.0.0.0 for all addresses`;
  const advice = new Map([
    ["EADDRINUSE", `Port ${port} is in use: stop the program that uses it, or set another PORT`],
    ["EACCES", `Port ${port} needs a privilege that this user lacks: set PORT to 1024 or more`],
    ["EADDRNOTAVAIL", noAddress],
    ["ENOTFOUND", noAddress],
  ]).get(errorCode(error) ?? "");
  if (advice !== undefined) return new Error(advice);
  return new Error(`Cannot listen on ${host}:${port}: check HOST and PORT`, { cause: error });
}
