import type { Command } from "commander";

import { type JsonObject, textAt } from "../../base/payload.ts";
import { readConfig } from "../../config/config.ts";
import { severities } from "../../event/new-notification.ts";
import { streamFilters } from "../../events/event-filters.ts";
import { example } from "../kit/arguments.ts";
import { messagesOf } from "../kit/event-source.ts";
import { filtersIn, type GivenFilters, withFilters } from "../kit/filter-options.ts";
import { note, type Paint, painter, printLine, timeOfDay } from "../kit/output.ts";
import { localUrl } from "../kit/request.ts";
import { serverOption } from "../kit/server-api.ts";
import { serverTokens, streamTokenTtlSeconds } from "../kit/server-tokens.ts";

interface TailOptions extends GivenFilters<typeof streamFilters> {
  readonly server?: string;
  readonly json?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("tail")
    .description("print events as a server stores them")
    .addOption(serverOption());
  withFilters(command, streamFilters)
    .option("--json", "one JSON object per line")
    .addHelpText("after", example("skyhook tail --severity warning"))
    .action((options: TailOptions) => tail(options, env));
}

/** `skyhook tail`: prints one line per event, until it is stopped or its reader ends. */
export async function tail(options: TailOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const base = options.server ?? localUrl(config);
  const mint = serverTokens(config, env, "operator", streamTokenTtlSeconds);
  const paint = painter(env);
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const query = new URLSearchParams(filtersIn(streamFilters, options));
  const source = {
    url: `${base}/v1/events/feed?${query.toString()}`,
    mint,
    signal: stopped.signal,
    onConnected: () => note(`following ${base}`),
    onLost: (reason: string, delayMs: number) =>
      note(`${base}: ${reason}; reconnecting in ${(delayMs / 1_000).toFixed(1)} s`),
  };
  for await (const { event } of messagesOf(source, null)) {
    if (event === null) continue;
    const line = options.json === true ? JSON.stringify(event) : lineOf(event, paint);
    if (!(await printLine(line))) return;
  }
}

const colours = { info: "dim", success: "green", warning: "yellow", error: "red" } as const;

function lineOf(event: JsonObject, paint: Paint): string {
  const fact = (name: string) => textAt(event, name) ?? "";
  const severity = severities.find((known) => known === event["severity"]);
  const mark =
    severity === undefined ? paint("dim", fact("status")) : paint(colours[severity], severity);
  const time = timeOfDay(new Date(fact("createdAt")));
  return `${time} ${mark} ${fact("provider")} ${fact("type")}: ${fact("title")} ${paint("dim", fact("id"))}`;
}
