import type { Command } from "commander";

import { readConfig } from "../config/config.ts";
import { knownProviders } from "../config/providers.ts";
import { catalogueFiles } from "../inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../inbound/providers/files/provider-file.ts";
import type { Provider } from "../inbound/providers/provider.ts";

import { argument, example } from "./arguments.ts";
import { pastTime } from "./durations.ts";
import { messagesOf } from "./event-source.ts";
import { type Forwarder, forwarder } from "./listen/forwarder.ts";
import { deliveryIn } from "./listen/local-request.ts";
import { defaultStateFile, openState, type StateFile } from "./listen/state.ts";
import { note, painter } from "./output.ts";
import { localUrl } from "./request.ts";
import { serverOption } from "./server-api.ts";
import { serverTokens, streamTokenTtlSeconds } from "./server-tokens.ts";
import { type StreamFilters, streamQuery, withStreamFilters } from "./stream-filters.ts";

interface ListenOptions extends StreamFilters {
  readonly to: string;
  readonly url?: string;
  /** In ISO 8601. */
  readonly since?: string;
  readonly state?: string;
  readonly originalHeaders?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("listen")
    .description("send the webhooks that a server receives to a local address")
    .requiredOption(
      "--to <url>",
      "the local address, like http://localhost:3000",
      argument(parseTarget),
    )
    .addOption(serverOption());
  withStreamFilters(command, "webhooks")
    .option(
      "--since <time>",
      "where the first run starts: 2h, 7d or 2026-11-21T09:00:00Z; default: at new webhooks",
      argument(pastTime),
    )
    .option("--state <file>", "where the position is stored; default: in ~/.local/state/skyhook")
    .option("--original-headers", "also send the other stored headers, such as user-agent")
    .addHelpText("after", example("skyhook listen --to http://localhost:3000 --provider code_host"))
    .action((options: ListenOptions) => listen(options, env));
}

function parseTarget(text: string): string {
  const url = URL.parse(text);
  const hasMore =
    url === null || [url.username, url.password, url.hash].some((part) => part !== "");
  if (hasMore || !/^https?:$/.test(url.protocol)) {
    throw new Error("Write a URL like http://localhost:3000/webhooks.");
  }
  return url.href;
}

/**
 * `skyhook listen`: sends webhooks to a local address, one after the other, in the order in which the server
 * stored them. The position is stored after the local address has answered, so that the next run continues
 * with exactly those that were missed.
 */
export async function listen(options: ListenOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const { to, provider, since, originalHeaders } = options;
  const config = readConfig(env);
  const base = options.url ?? localUrl(config);
  const mint = serverTokens(config, env, "operator", streamTokenTtlSeconds);
  const providers = signableProviders(knownProviders(config));
  const state = openState(options.state ?? defaultStateFile(identityOf(base, options), env));
  const stopped = new AbortController();
  const { signal } = stopped;
  const stop = () => stopped.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const local = forwarder({
    to,
    withAllHeaders: originalHeaders === true,
    providers,
    state,
    signal,
    paint: painter(env),
  });
  const stopKeys = watchKeys(local, stop);
  try {
    if (provider !== undefined) local.showSecret(provider);
    const query = streamQuery(options, { include: "body", from: sinceOf(state, since) });
    const source = {
      url: `${base}/v1/events/feed?${query.toString()}`,
      mint,
      signal,
      onConnected: () => note(`sending webhooks of ${base} to ${to}`),
      onLost: (reason: string, delayMs: number) =>
        note(`${base}: ${reason}; reconnecting in ${(delayMs / 1_000).toFixed(1)} s`),
    };
    for await (const { seq, event } of messagesOf(source, state.current.seq)) {
      noticeOtherDatabase(seq, state);
      const delivery = event === null ? null : deliveryIn(event);
      // After the answer: a listener that is killed before sends the delivery again.
      if (delivery !== null && !(await local.forward(delivery))) break;
      if (seq !== state.current.seq) state.save({ seq });
    }
  } finally {
    stopKeys();
    process.off("SIGINT", stop).off("SIGTERM", stop);
    state.release();
  }
}

/** What tells listeners apart. Filters of later versions are added only if they are set, so that states are found. */
function identityOf(base: string, { to, provider = "", type = "", ...filters }: ListenOptions) {
  const { status, subject, key, q } = filters;
  const others = Object.entries({ status, subject, key, q }).map(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  return [base, to, provider, type, ...others.flat()];
}

/** The start of the first run. A later run continues where the last one ended. */
function sinceOf(state: StateFile, since: string | undefined): string | undefined {
  if (since === undefined) return undefined;
  if (state.current.seq === null) return since;
  note(`continuing after the last delivery; to use --since, delete ${state.path}`);
  return undefined;
}

function noticeOtherDatabase(seq: number, { current }: StateFile): void {
  if (current.seq === null || seq >= current.seq) return;
  note("the server has another database than before: starting with new webhooks");
}

/** These providers, and those whose file is part of the program. */
function signableProviders(known: readonly Provider[]): readonly Provider[] {
  const others = Object.entries(catalogueFiles).filter(
    ([id]) => !known.some((one) => one.id === id),
  );
  return [
    ...known,
    ...others.map(([id, text]) => fileProvider(id, `${id}.yaml`, readProviderFile(id, text))),
  ];
}

const controlC = "\u0003";

/** In a terminal, `r` sends the last delivery again, and `q` stops. Returns a function that ends it. */
function watchKeys(local: Forwarder, stop: () => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const onKey = (key: Buffer) => {
    const text = key.toString();
    if (text === "q" || text === controlC) stop();
    if (text === "r") void local.again();
  };
  stdin.setRawMode(true);
  stdin.on("data", onKey);
  note("r: send the last delivery again; q: stop");
  return () => {
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
