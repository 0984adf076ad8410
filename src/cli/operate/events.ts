import type { Command } from "commander";

import { nearest } from "../../base/nearest.ts";
import { isObject, isTrueAt, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";
import { readConfig } from "../../config/config.ts";
import { knownProviders } from "../../config/providers.ts";
import { eventFilters } from "../../events/event-filters.ts";
import { eventCatalogue } from "../../wiring/event-catalogue.ts";
import { example } from "../kit/arguments.ts";
import { findProvider } from "../kit/find-provider.ts";
import { jsonOption, type ListOptions, printList } from "../kit/lists.ts";
import { table, UsageError } from "../kit/output.ts";
import { declareResource } from "../kit/resource.ts";

/** `skyhook events`. */
export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program.command("events");
  declareResource(command, env, {
    name: "events",
    description: "list and search events, newest first",
    role: "operator",
    filters: eventFilters,
    query: { include: "delivery" },
    columns: {
      received: "createdAt",
      delivery: "delivery",
      provider: "provider",
      type: "type",
      title: "title",
      id: "id",
    },
    examples: [
      "skyhook events --delivery dead --from 2h --type 'deploy.*'",
      "skyhook events evt_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
    ],
    sample: "evt_0193…",
    print: printTimeline,
  });
  command
    .command("types")
    .description("list what destinations receive")
    .argument("[type]", "print its schema, with an example")
    .option("--provider <provider>", "only its types")
    .addOption(jsonOption())
    .addHelpText("after", example("skyhook events types code_host.workflow_run.completed"))
    .action((type: string | undefined, options: TypeOptions) => printTypes(type, options, env));
}

type TypeOptions = ListOptions & { readonly provider?: string };

const typeColumns = { type: "name", provider: "from", example: "summary", data: "data" };

/** `skyhook events types`. Needs no server. */
async function printTypes(
  name: string | undefined,
  options: TypeOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { schemasOf } = await import("../../events/event-schemas.ts");
  const providers = knownProviders(readConfig(env));
  const { provider } = options;
  const isOwn = provider === "bookings" || provider === "skyhook";
  const wanted = provider === undefined || isOwn ? provider : findProvider(provider, providers).id;
  const all = eventCatalogue(providers)
    .filter(({ event }) => wanted === undefined || event.provider === wanted)
    .map((each) => {
      const { json, cloudevents, ...shown } = schemasOf(each);
      const others = (each.others ?? []).map((type) => `${each.event.provider}.${type}`);
      return { ...shown, others, from: each.from, data: Object.keys(each.data), json, cloudevents };
    });
  if (name === undefined) {
    const lines = all.map(({ name: type, from, summary, data }) => ({
      name: type,
      from,
      summary,
      data,
    }));
    return printList(lines, typeColumns, options);
  }
  const found = all.find((each) => each.name === name || each.others.includes(name));
  if (found === undefined) {
    const near = nearest(
      name,
      all.map((each) => each.name),
    );
    throw new UsageError(
      `There is no type ${name}.${near === null ? "" : ` Did you mean ${near}?`}`,
    );
  }
  console.log(JSON.stringify(found, null, options.json === true ? 0 : 2));
}

const facts = ["id", "provider", "type", "title", "status", "delivery", "subject", "actor", "url"];

/** Prints an event, and what became of its notifications in the order of time. */
function printTimeline(event: JsonObject): void {
  const rows = facts.map((name) => [name, textAt(event, name) ?? ""]);
  console.log(table(rows.filter(([, value]) => value !== "")));
  const notifications = itemsAt(event, "notifications").filter(isObject);
  const lines = [
    [textAt(event, "createdAt") ?? "", "received"],
    ...notifications.flatMap(linesOf),
  ].toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  console.log(`\n${table([["time", "what"], ...lines])}`);
}

function linesOf(notification: JsonObject): readonly (readonly string[])[] {
  const fact = (name: string) => textAt(notification, name) ?? "";
  const deliveries = itemsAt(notification, "deliveries").filter(isObject);
  const nameOf = (id: string | null) => {
    const found = deliveries.find((each) => textAt(each, "destinationId") === id);
    return textAt(found, "destination") ?? id ?? "";
  };
  const attempts = itemsAt(notification, "attempts").filter(isObject);
  return [
    [fact("createdAt"), `${fact("severity")} notification ${fact("id")}: ${fact("title")}`],
    ...attempts.map((attempt) => {
      const how = isTrueAt(attempt, "delivered") ? "delivered to" : "failed at";
      const why = textAt(attempt, "error") ?? `HTTP ${textAt(attempt, "responseStatus") ?? "-"}`;
      const where = nameOf(textAt(attempt, "destinationId"));
      return [
        textAt(attempt, "startedAt") ?? "",
        `${how} ${where}: ${why}, ${textAt(attempt, "durationMs")} ms`,
      ];
    }),
  ];
}
