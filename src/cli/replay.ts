import { existsSync } from "node:fs";

import { tokens } from "../auth/token.ts";
import { systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config.ts";
import { tokenKey, tokenKeyFile } from "../secrets.ts";
import { isObject, itemsAt, textAt } from "../webhooks/payload.ts";
import type { JsonObject } from "../webhooks/provider.ts";

import { painter } from "./output.ts";
import { type Answer, isItRunning, localUrl, problemOf, request } from "./request.ts";

/** Long enough for two requests, too short to be worth stealing. */
const tokenTtlSeconds = 60;

/** `skyhook replay`: has the server read an event anew and notify again. */
export async function replay(
  id: string,
  { url }: { readonly url?: string },
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const address = `${url ?? localUrl(config)}/v1/events/${encodeURIComponent(id)}`;
  const headers = { authorization: `Bearer ${await operatorToken(config)}` };
  const before = notificationsOf(await request(address, { headers }, isItRunning));
  const init = { method: "POST", headers };
  const after = await request(`${address}/replay`, init, isItRunning);
  const known = new Set(before.map((notification) => notification["id"]));
  const made = notificationsOf(after).filter((notification) => !known.has(notification["id"]));

  const paint = painter(env);
  const title = textAt(after.json, "title") ?? "";
  console.log(`${paint("green", "replayed")} ${id} ${textAt(after.json, "type") ?? ""}: ${title}`);
  if (made.length === 0) console.log("no notification: operators are not told of such an event");
  for (const notification of made) {
    const fact = (name: string) => textAt(notification, name) ?? "";
    console.log(`${fact("id")} ${fact("status")} ${fact("severity")}: ${fact("title")}`);
  }
}

async function operatorToken(config: Config): Promise<string> {
  const { jwtSecret, dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (jwtSecret === null && !existsSync(tokenKeyFile(dataDir))) {
    // A key made here would be none that the server knows.
    throw new Error(
      `There is no signing key in ${dataDir}: run this with the server's DATA_DIR or JWT_SECRET`,
    );
  }
  const key = tokenKey(jwtSecret, dataDir);
  const actor = { id: "skyhook-cli", roles: ["operator"] } as const;
  return tokens({ key, issuer, audience }, systemClock).mint(actor, tokenTtlSeconds);
}

/** The notifications of the event that was answered. Throws when the answer is none. */
function notificationsOf(answer: Answer): readonly JsonObject[] {
  if (answer.ok && answer.json !== null) {
    return itemsAt(answer.json, "notifications").filter(isObject);
  }
  const hint =
    answer.status === 401
      ? ". The server has another signing key: use its DATA_DIR or JWT_SECRET"
      : "";
  throw new Error(`The server answers ${answer.status} ${problemOf(answer)}${hint}`);
}
