import { isTrueAt, itemsAt, textAt } from "../../../base/payload.ts";
import { programName, startCommand } from "../../../base/program-name.ts";
import type { Config } from "../../../config/config.ts";
import { registeredProviders } from "../../../config/providers.ts";
import { secretStore } from "../../../config/secrets.ts";
import { messageOf } from "../../kit/errors.ts";
import { localUrl, problemOf, request } from "../../kit/request.ts";
import { calling } from "../../kit/server-api.ts";

import { bad, type Finding, good, odd } from "./finding.ts";

/** Reports where notifications are sent, and whether a server with this configuration runs here. */
export async function checkServer(
  config: Config,
  env: NodeJS.ProcessEnv,
): Promise<readonly Finding[]> {
  const ready = await checkReady(config);
  const loaded = ready.level === "good" ? await checkLoaded(config, env) : [];
  return [checkGateway(config), ready, ...loaded];
}

function checkGateway({ operatorGatewayUrl: url }: Config): Finding {
  const about = "operator gateway";
  if (url === null)
    return good(
      about,
      "not configured: notifications go to other destinations, the feed and the log",
    );
  // The path or the query may contain a key.
  return good(about, `notifications are posted to ${URL.parse(url)?.origin ?? "an invalid URL"}`);
}

/** A secret that was stored after the start is not in force before the server has read it. */
async function checkLoaded(config: Config, env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const store = secretStore(env, config.secretsDir);
  try {
    const call = calling({}, env, { path: "/v1/providers", role: "operator" });
    const lacking = itemsAt(await call("GET", ""), "data")
      .filter((each) => !isTrueAt(each, "hasSecret"))
      .map((each) => textAt(each, "provider"));
    const detail = `has a secret that the running server has not loaded: run \`${programName} secrets init\`, or restart the server`;
    return registeredProviders(config)
      .filter(({ id }) => store.webhookSecrets(id) !== null && lacking.includes(id))
      .map(({ id }) => bad(id, detail));
  } catch {
    // Other checks report invalid secrets and files, and the server may accept other tokens only.
    return [];
  }
}

async function checkReady(config: Config): Promise<Finding> {
  const about = "server";
  if (config.port === 0) return odd(about, "PORT is 0: the address is unknown");
  const url = `${localUrl(config)}/readyz`;
  try {
    const answer = await request(url, {}, `start it with \`${startCommand}\``);
    if (answer.json?.["status"] === "ok") return good(about, `${url} answers`);
    if (answer.status === 503) return bad(about, `${url} says ${problemOf(answer)}`);
    return bad(about, `another program answers at ${url} (${answer.status}): set another PORT`);
  } catch (error) {
    return odd(about, messageOf(error));
  }
}
