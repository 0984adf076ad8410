import { Option } from "commander";

import type { Role } from "../../base/context.ts";
import { isObject, isTrueAt, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";
import { readConfig } from "../../config/config.ts";

import { argument } from "./arguments.ts";
import { isItRunning, localUrl, parseBaseUrl, request } from "./request.ts";
import { serverError, serverTokens } from "./server-tokens.ts";

export interface ServerOptions {
  readonly server?: string;
}

/** The option that names the server. */
export function serverOption(): Option {
  const option = new Option("--server <url>", "the server; default: this machine, at PORT");
  return option.argParser(argument(parseBaseUrl));
}

/** Calls the server, and returns its answer. Throws with the reason if it is an error. */
export type Call = (method: string, path: string, body?: object) => Promise<JsonObject>;

interface CalledPath {
  readonly path: string;
  readonly role: Role;
  /** The largest answer. */
  readonly maxBytes?: number;
}

export function calling(
  { server }: ServerOptions,
  env: NodeJS.ProcessEnv,
  { path: root, role, maxBytes }: CalledPath = { path: "/v1/destinations", role: "admin" },
): Call {
  const config = readConfig(env);
  const base = server ?? localUrl(config);
  const mint = serverTokens(config, env, role);
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${await mint()}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await request(`${base}${root}${path}`, init, isItRunning, maxBytes);
    if (answer.ok && answer.json !== null) return answer.json;
    throw new Error(serverError(answer, role));
  };
}

/** The items of a list, page by page. */
export async function* pagesOf(
  call: Call,
  parameters: Readonly<Record<string, string>>,
): AsyncGenerator<readonly JsonObject[]> {
  const query = new URLSearchParams(parameters);
  for (let hasMore = true; hasMore;) {
    const page = await call("GET", `?${query.toString()}`);
    yield itemsAt(page, "data").filter(isObject);
    query.set("cursor", textAt(page, "pagination", "nextCursor") ?? "");
    hasMore = isTrueAt(page, "pagination", "hasMore");
  }
}

/** All items of a list. */
export async function allOf(call: Call): Promise<readonly JsonObject[]> {
  return (await Array.fromAsync(pagesOf(call, { limit: "100" }))).flat();
}
