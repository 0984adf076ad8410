import { connect } from "node:net";

import { systemClock } from "../../../base/clock.ts";
import { programName } from "../../../base/program-name.ts";
import { systemResolve } from "../../../base/public-address.ts";
import type { KeyRing } from "../../../base/sealing.ts";
import type { Config, Environment } from "../../../config/config.ts";
import { registeredProviders } from "../../../config/providers.ts";
import type { Storage } from "../../../db/storage.ts";
import { isAtService } from "../../../inbound/providers/own-service.ts";
import type { Provider } from "../../../inbound/providers/provider.ts";
import { destinationHealth } from "../../../outbound/destinations/destination-health.ts";
import type { DestinationHealth } from "../../../outbound/destinations/destination.schema.ts";
import { compileFilter } from "../../../outbound/filters/filter.ts";
import { openSecrets } from "../../../outbound/model/destination-secrets.ts";
import { rulesOf, type StoredDestination } from "../../../outbound/model/destination.ts";
import { allDestinations } from "../../../outbound/model/destinations.sql.ts";
import { hostToConnect } from "../../../outbound/transports/brokers/broker-address.ts";
import { brokers } from "../../../outbound/transports/brokers/brokers.ts";
import { endpointOf } from "../../../outbound/transports/transport.ts";
import { messageOf } from "../../kit/errors.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { readableKeys } from "./personal-data.ts";

/** A destination that does not accept a connection within this time is not reachable. */
const connectTimeoutMs = 3_000;

/** Reports for each destination of the operators whether it works. Sends nothing but connection requests. */
export async function checkDestinations(
  storage: Storage,
  config: Config,
  env: Environment,
): Promise<readonly Finding[]> {
  const keys = readableKeys(config, env);
  if (keys === null) return [];
  const stored = await storage.all(allDestinations, {});
  const own = stored.filter(({ ownerId }) => ownerId === null);
  const registered = providersIn(config);
  const shown = await destinationHealth(storage, systemClock)(own);
  return Promise.all(shown.map((each) => check(each, each.health, config, keys, registered)));
}

/** Another check reports what is wrong with their files. */
function providersIn(config: Config): readonly Provider[] {
  try {
    return registeredProviders(config);
  } catch {
    return [];
  }
}

async function check(
  destination: StoredDestination,
  { circuit, dead, waiting, lastError }: DestinationHealth,
  config: Config,
  [first, ...others]: readonly Uint8Array[],
  registered: readonly Provider[],
): Promise<Finding> {
  const { name, state } = destination;
  const about = `destination ${name}`;
  const run = (verb: string) => `\`${programName} destination ${verb} ${name}\``;
  if (first === undefined) return bad(about, "its URL is sealed, but PERSONAL_DATA_KEY is missing");
  if (state === "disabled") return good(about, "disabled: stores no deliveries");
  let problems: readonly (string | null)[];
  try {
    problems = [
      await unreachable(destination, config, [first, ...others]),
      ...silentProviders(destination, registered),
    ];
  } catch (error) {
    return bad(about, messageOf(error));
  }
  const troubles = [
    ...problems,
    state === "paused" ? `paused, ${waiting} waiting: send them with ${run("resume")}` : null,
    circuit === "closed"
      ? null
      : `sending is suspended (${lastError ?? "no answer"}): try ${run("test")}`,
    dead > 0 ? `${dead} dead: send them again with ${run("retry")}` : null,
  ].filter((trouble) => trouble !== null);
  if (troubles.length > 0) return odd(about, troubles.join("; "));
  return good(about, `reachable, ${waiting} waiting`);
}

/** The providers of its own service that its filter does not name. */
function silentProviders(destination: StoredDestination, providers: readonly Provider[]) {
  const filter = destination.filter === null ? null : compileFilter(destination.filter);
  return providers
    .filter((one) => isAtService(one, destination) && !filter?.names(one.id))
    .map(({ id }) => `gets no events of ${id}, its own service, unless its filter names it`);
}

/** Why no connection can be made; null if one can. Throws if the secrets cannot be opened. */
async function unreachable(
  destination: StoredDestination,
  config: Config,
  keys: KeyRing,
): Promise<string | null> {
  const { url } = openSecrets(keys, destination);
  const { transport } = destination;
  const rules = rulesOf(destination, config.destinationsAllowPrivate);
  try {
    const endpoint =
      transport === "http" ? endpointOf(new URL(url)) : brokers[transport].check(url, rules);
    const host = await hostToConnect(endpoint, { rules, resolve: systemResolve });
    await opened(host, endpoint.port);
    return null;
  } catch (error) {
    return `not reachable: ${messageOf(error)}`;
  }
}

function opened(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: connectTimeoutMs });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once("connect", () => end(resolve));
    socket.once("timeout", () => end(() => reject(new Error("no answer within 3 s"))));
    socket.once("error", (error) => end(() => reject(error)));
  });
}
