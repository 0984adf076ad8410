import fc from "fast-check";

import type { FleetAction } from "../../crash/fleet.ts";
import { asAdmin } from "../fleet.ts";
import { count } from "../server.ts";

import { command } from "./command.ts";

/** What becomes of the deliveries is compared at the end of the run. */
export const changeDestination = command(
  "ChangeDestination",
  fc.record({
    which: fc.nat(49),
    action: fc.constantFrom<FleetAction>("pause", "pause", "resume", "rotate", "retry"),
  }),
  async (args, _, server) => {
    await server.fleet?.act(asAdmin(server), args.which, args.action);
    count(server, `destination: ${args.action}`);
  },
);
