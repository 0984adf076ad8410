import type { Command } from "commander";

import { sessionFilters } from "../../identity/sessions/session-filters.ts";
import { declareResource } from "../kit/resource.ts";

/** `skyhook sessions`. */
export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  declareResource(program.command("sessions"), env, {
    name: "sessions",
    description: "list and end sign-ins to the console, tokens of agents and API keys",
    role: "admin",
    filters: sessionFilters,
    columns: {
      id: "id",
      kind: "kind",
      actor: "actor",
      roles: "roles",
      address: "address",
      created: "createdAt",
      expires: "expiresAt",
      name: "name",
    },
    examples: ["skyhook sessions", "skyhook sessions --kind agent"],
    sample: "ses_019377b07d4070008000000000000001",
    operations: {
      revoke: { description: "end a session at once", done: "ended", isRemoval: true },
    },
  });
}
