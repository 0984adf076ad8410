import type { Role } from "../base/context.ts";
import { readConfig } from "../config/config.ts";
import { isObject, isTrueAt, itemsAt, textAt } from "../gateway/providers/payload.ts";
import type { JsonObject } from "../gateway/providers/provider.ts";

import { isItRunning, localUrl, request } from "./request.ts";
import { serverError, serverTokens } from "./server-tokens.ts";

export interface ServerOptions {
  readonly url?: string;
}

/** Calls the server, and returns its answer. Throws with the reason if it is an error. */
export type Call = (method: string, path: string, body?: object) => Promise<JsonObject>;

export function calling(
  { url }: ServerOptions,
  env: NodeJS.ProcessEnv,
  { path: root, role }: { readonly path: string; readonly role: Role } = {
    path: "/v1/destinations",
    role: "admin",
  },
): Call {
  const config = readConfig(env);
  const base = url ?? localUrl(config);
  const mint = serverTokens(config, env, role);
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${await mint()}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await request(`${base}${root}${path}`, init, isItRunning);
    if (answer.ok && answer.json !== null) return answer.json;
    throw new Error(serverError(answer, role));
  };
}

/** All destinations that the caller may see. */
export async function allOf(call: Call): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  const query = new URLSearchParams({ limit: "100" });
  for (let hasMore = true; hasMore;) {
    const page = await call("GET", `?${query.toString()}`);
    found.push(...itemsAt(page, "data").filter(isObject));
    query.set("cursor", textAt(page, "pagination", "nextCursor") ?? "");
    hasMore = isTrueAt(page, "pagination", "hasMore");
  }
  return found;
}
