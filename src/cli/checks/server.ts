import type { Config } from "../../config/config.ts";
import { messageOf } from "../failures.ts";
import { programName } from "../program.ts";
import { localUrl, problemOf, request } from "../request.ts";

import { bad, type Finding, good, odd } from "./finding.ts";

/** Where notifications go, and whether a server of this configuration runs here. */
export async function checkServer(config: Config): Promise<readonly Finding[]> {
  return [checkGateway(config), await checkReady(config)];
}

function checkGateway({ operatorGatewayUrl: url }: Config): Finding {
  const about = "operator gateway";
  if (url === null) return good(about, "not configured: notifications go to the feed and the log");
  // The path or the query may hold a key.
  return good(about, `notifications are posted to ${URL.parse(url)?.origin ?? "an odd URL"}`);
}

async function checkReady(config: Config): Promise<Finding> {
  const about = "server";
  if (config.port === 0) return odd(about, "PORT is 0: its address is not known");
  const url = `${localUrl(config)}/readyz`;
  try {
    const answer = await request(url, {}, `start it with \`${programName} serve\``);
    if (answer.json?.["status"] === "ok") return good(about, `${url} answers`);
    if (answer.status === 503) return bad(about, `${url} says ${problemOf(answer)}`);
    return bad(about, `another program answers at ${url} (${answer.status}): set PORT`);
  } catch (error) {
    return odd(about, messageOf(error));
  }
}
