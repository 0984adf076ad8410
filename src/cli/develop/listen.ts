import type { Command } from "commander";

import { readConfig } from "../../config/config.ts";
import { knownProviders } from "../../config/providers.ts";
import { streamFilters } from "../../events/event-filters.ts";
import { catalogueFile, catalogueFiles } from "../../inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../inbound/providers/files/file-provider.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { argument, example } from "../kit/arguments.ts";
import { messagesOf } from "../kit/event-source.ts";
import { filtersIn, type GivenFilters, withFilters } from "../kit/filter-options.ts";
import { note, painter } from "../kit/output.ts";
import { localUrl } from "../kit/request.ts";
import { serverOption } from "../kit/server-api.ts";
import { serverTokens, streamTokenTtlSeconds } from "../kit/server-tokens.ts";

import { type Forwarder, forwarder } from "./listen/forwarder.ts";
import { deliveryIn } from "./listen/local-request.ts";
import { defaultStateFile, openState, type StateFile } from "./listen/state.ts";

interface ListenOptions extends GivenFilters<typeof streamFilters> {
  readonly to: string;
  readonly server?: string;
  readonly state?: string;
  readonly originalHeaders?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("listen")
    .description("send the webhooks that a server receives to a local program")
    .requiredOption("--to <url>", "its URL, like http://localhost:3000", argument(parseTarget))
    .addOption(serverOption());
  withFilters(command, streamFilters)
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
  const { to, provider, originalHeaders } = options;
  const config = readConfig(env);
  const base = options.server ?? localUrl(config);
  const mint = serverTokens(config, env, "operator", streamTokenTtlSeconds);
  const known = knownProviders(config);
  const state = openState(options.state ?? defaultStateFile(identityOf(base, options), env));
  const stopped = new AbortController();
  const { signal } = stopped;
  const stop = () => stopped.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const local = forwarder({
    to,
    withAllHeaders: originalHeaders === true,
    providerOf: (id) => known.find((provider) => provider.id === id) ?? inCatalogue(id),
    state,
    signal,
    paint: painter(env),
  });
  const stopKeys = watchKeys(local, stop);
  try {
    if (provider !== undefined) local.showSecret(provider);
    const filters = filtersIn(streamFilters, startingAt(state, options));
    const query = new URLSearchParams({ ...filters, include: "body" });
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

/** Identifies a listener. */
function identityOf(base: string, options: ListenOptions) {
  const { from: _, ...filters } = filtersIn(streamFilters, options);
  return [base, options.to, ...Object.entries(filters).map(([name, value]) => `${name} ${value}`)];
}

/** `from` is the start of the first run. A later run continues where the last one ended. */
function startingAt({ current, path }: StateFile, options: ListenOptions): ListenOptions {
  const { from, ...others } = options;
  if (from === undefined || current.seq === null) return options;
  note(`continuing after the last delivery; to use --from, delete ${path}`);
  return others;
}

function noticeOtherDatabase(seq: number, { current }: StateFile): void {
  if (current.seq === null || seq >= current.seq) return;
  note("the server has another database than before: starting with new webhooks");
}

/** A provider whose file is part of the program. */
function inCatalogue(id: string): Provider | undefined {
  const text = Object.hasOwn(catalogueFiles, id) ? catalogueFiles[id] : undefined;
  return text === undefined ? undefined : fileProvider(id, `${id}.yaml`, catalogueFile(text));
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
