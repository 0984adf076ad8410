import { databaseIn, startIn } from "../../../support/load.ts";
import { asAdminAt, Fleet } from "../../crash/fleet.ts";
import { addFlights } from "../../crash/service.ts";
import type { Recorder } from "../recorder.ts";
import { type Scenario, withGateway } from "../scenario.ts";

import { Load, seats, ServiceClaims } from "./service.ts";

/** Each event goes to fifty destinations. */
const requestsPerEvent = 20;

/**
 * A server with fifty destinations of mixed health is killed while it sends, started again, and stopped. All
 * ids that it sent to a destination must exist, with a delivery for each destination.
 */
export const destinations: Scenario = {
  name: "destinations",

  async record(recorder, requests) {
    const fleet = new Fleet();
    try {
      await withGateway((env) =>
        serve(recorder, env, fleet, Math.ceil(requests / requestsPerEvent)),
      );
    } finally {
      await fleet.stop();
    }
  },

  claims: () => new ServiceClaims(),
};

async function serve(
  recorder: Recorder,
  gateway: Readonly<Record<string, string>>,
  fleet: Fleet,
  events: number,
): Promise<void> {
  const { root } = recorder;
  const env = { ...gateway, DESTINATIONS_ALLOW_PRIVATE: "true" };
  const load = new Load();
  await addFlights(root, `sqlite:${databaseIn(root)}`, seats, { through: recorder.recorded() });
  for (const end of ["kill", "stop"] as const) {
    const server = await startIn(root, env, { through: recorder.recorded() });
    try {
      if (end === "kill") await fleet.create(asAdminAt(server.url));
      await load.send(server, events);
      await load.readDelivered(server);
      await server[end]();
    } finally {
      await server.kill();
    }
  }
}
