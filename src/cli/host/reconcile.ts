import type { Command } from "commander";

import { systemClock } from "../../base/clock.ts";
import { logAccess } from "../../config/api-access.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { requireSecrets, secretStore } from "../../config/secrets.ts";
import { databaseFile } from "../../db/open.ts";
import { requireServedFiles } from "../../db/sqlite/server-lock.ts";
import { noCounts, type Report, sumOf } from "../../inbound/reconcile/compare-log.ts";
import type { LogKind } from "../../inbound/reconcile/provider-log.ts";
import { providerLogs } from "../../inbound/reconcile/provider-logs.ts";
import type { RunOptions, RunResult } from "../../inbound/reconcile/reconciler.ts";
import { createServices, type Services } from "../../services.ts";
import { createLog } from "../../telemetry/log.ts";
import { argument, example } from "../kit/arguments.ts";
import { isInMemory, withDatabase } from "../kit/database.ts";
import { pastTime } from "../kit/durations.ts";
import { findProvider } from "../kit/find-provider.ts";
import { jsonOption, type ListOptions, printLines } from "../kit/lists.ts";
import { note, painter, UsageError } from "../kit/output.ts";

interface ReconcileOptions extends ListOptions {
  /** In ISO 8601. */
  readonly from?: string;
  readonly dryRun?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const names = providerLogs.map(({ provider }) => provider).join(" or ");
  program
    .command("reconcile")
    .description("recover deliveries that never arrived, from the provider's own log")
    .argument("<provider>", names)
    .option(
      "--from <time>",
      "how far to look back: 24h or 2026-11-21T09:00:00Z; default: to the last run, or the whole log on the first",
      argument(pastTime),
    )
    .option("--dry-run", "list what is missing; store nothing")
    .addOption(jsonOption())
    .addHelpText("after", example("skyhook reconcile code_host --from 24h"))
    .action((provider: string, options: ReconcileOptions) => reconcile(provider, options, env));
}

/**
 * `skyhook reconcile`: compares the provider's log with the stored events, and stores what is missing. A server
 * may run beside it, which sends the notifications.
 */
export async function reconcile(
  providerId: string,
  { from, dryRun, json }: ReconcileOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const kind = logOf(providerId);
  requireSecrets(env);
  requireConfigured(kind, config, env);
  const services = await openServices(config, env);
  try {
    const run: RunOptions = {
      isDryRun: dryRun === true,
      signal: new AbortController().signal,
      report: json === true ? printJson : printing(env),
      ...(from !== undefined && { since: new Date(from) }),
    };
    const print = json === true ? note : console.log;
    printEnd(await runPatiently(services, kind.provider, run), dryRun === true, print);
  } finally {
    await services.stop();
  }
}

function logOf(providerId: string): LogKind {
  const { id } = findProvider(providerId);
  const kind = providerLogs.find(({ provider }) => provider === id);
  if (kind !== undefined) return kind;
  const names = providerLogs.map(({ provider }) => provider).join(" and ");
  throw new UsageError(`${id} has no log that Skyhook can read. Those of ${names} can be read`);
}

function requireConfigured(kind: LogKind, config: Config, env: NodeJS.ProcessEnv): void {
  const { provider, variables, permission } = kind;
  if (!config.providers.includes(provider)) {
    throw new UsageError(`${provider} is not registered: add it to WEBHOOK_PROVIDERS`);
  }
  if (isInMemory(config)) throw new UsageError("The database is in memory: set DATABASE_URL");
  const access = logAccess(provider, config, secretStore(env, config.secretsDir));
  const signal = new AbortController().signal;
  if (access !== null && kind.open(access, { clock: systemClock, signal }) !== null) return;
  throw new UsageError(`Set ${variables.join(" and ")}. The token needs: ${permission}`);
}

function openServices(config: Config, env: NodeJS.ProcessEnv): Promise<Services> {
  const file = databaseFile(config.databaseUrl);
  const log = createLog({ level: "silent", format: "json" });
  return withDatabase(config, () => {
    if (file !== null) requireServedFiles(file);
    return createServices(config, secretStore(env, config.secretsDir), log);
  });
}

const busyPatienceMs = 600_000;
const busyRetryMs = 1_000;

/** Runs to the end: waits for another process that reads the log, and for the API's rate limit. */
async function runPatiently(
  { reconciler }: Services,
  provider: string,
  run: RunOptions,
): Promise<RunResult> {
  const deadlineMs = performance.now() + busyPatienceMs;
  let isTold = false;
  let total = noCounts();
  for (;;) {
    const result = await reconciler.run(provider, run);
    total = sumOf(total, result.counts);
    if (result.status === "paused" && result.retryAt !== null) {
      note(`the API's rate limit is reached: continuing at ${result.retryAt.toISOString()}`);
      await Bun.sleep(Math.max(0, result.retryAt.getTime() - Date.now()));
      continue;
    }
    if (result.status !== "busy") return { ...result, counts: total };
    if (performance.now() > deadlineMs) {
      throw new Error(
        `Another process has read the log of ${provider} for 10 minutes: try again later`,
      );
    }
    if (!isTold) note("another process reads the log: waiting");
    isTold = true;
    await Bun.sleep(busyRetryMs);
  }
}

const printJson: Report = (entry, outcome, why) => {
  if (outcome !== "stored") printLines([{ ...entry, outcome, why }]);
};

/** Prints what is recovered or missing, and what could not be. */
function printing(env: NodeJS.ProcessEnv): Report {
  const paint = painter(env);
  return ({ deliveryId, type, sentAt }, outcome, why) => {
    const line = `${type} ${deliveryId} of ${sentAt.toISOString()}`;
    if (outcome === "stored") return;
    if (why === null) console.log(`${paint("green", outcome)} ${line}`);
    else note(`${outcome} ${line}: ${why}`);
  };
}

function printEnd(
  { status, counts, error }: RunResult,
  isDryRun: boolean,
  print: (line: string) => void,
): void {
  const { recovered, missing, stored, unreadable, failed } = counts;
  const found = isDryRun ? `${missing} missing` : `${recovered} recovered`;
  const others = [
    unreadable > 0 ? `, ${unreadable} unreadable` : "",
    failed > 0 ? `, ${failed} failed` : "",
  ];
  print(`${found}, ${stored} had arrived${others.join("")}`);
  if (status === "failed") throw new Error(error ?? "The log could not be read");
}
