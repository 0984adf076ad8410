import type { Command } from "commander";

import { at, type JsonObject, printable, textAt } from "../../base/payload.ts";
import { rejectionFilters } from "../../inbound/rejections/rejection-filters.ts";
import { table } from "../kit/output.ts";
import { declareResource } from "../kit/resource.ts";

/** `skyhook rejections`. */
export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  declareResource(program.command("rejections"), env, {
    name: "rejections",
    description: "list the webhooks that were rejected, and why, newest first",
    role: "operator",
    filters: rejectionFilters,
    query: { include: "cause" },
    columns: {
      received: "createdAt",
      provider: "provider",
      type: "type",
      reason: "reason",
      cause: "cause",
      id: "id",
    },
    examples: [
      "skyhook rejections --provider github --from 2h",
      "skyhook rejections rej_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
    ],
    sample: "rej_0193…",
    print: printExplanation,
  });
}

/** Longer than every explanation. */
const maxDetail = 4_000;
const facts = ["id", "provider", "createdAt", "reason", "address", "bodyBytes"];

function printExplanation(rejection: JsonObject): void {
  console.log(
    table([
      ...facts.map((name) => [name, textAt(rejection, name) ?? "-"]),
      ["cause", textAt(rejection, "explanation", "cause") ?? "unknown"],
    ]),
  );
  console.log(`\n${printable(String(at(rejection, "explanation", "detail")), maxDetail)}`);
}
