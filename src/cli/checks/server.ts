import type { Config } from "../../config/config.ts";
import { messageOf } from "../errors.ts";
import { programName } from "../program.ts";
import { localUrl, problemOf, request } from "../request.ts";

import { bad, type Finding, good, odd } from "./finding.ts";

/** Reports where notifications are sent, and whether a server with this configuration runs here. */
export async function checkServer(config: Config): Promise<readonly Finding[]> {
  return [checkGateway(config), await checkReady(config)];
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

async function checkReady(config: Config): Promise<Finding> {
  const about = "server";
  if (config.port === 0) return odd(about, "PORT is 0: the address is unknown");
  const url = `${localUrl(config)}/readyz`;
  try {
    const answer = await request(url, {}, `start it with \`${programName} serve\``);
    if (answer.json?.["status"] === "ok") return good(about, `${url} answers`);
    if (answer.status === 503) return bad(about, `${url} says ${problemOf(answer)}`);
    return bad(about, `another program answers at ${url} (${answer.status}): set another PORT`);
  } catch (error) {
    return odd(about, messageOf(error));
  }
}
