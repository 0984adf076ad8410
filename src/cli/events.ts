import type { Command } from "commander";

import { isObject, isTrueAt, itemsAt, type JsonObject, textAt } from "../base/payload.ts";
import { eventFilters } from "../events/event-filters.ts";

import { declareList } from "./lists.ts";
import { table } from "./output.ts";

/** `skyhook events`. */
export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  declareList(program.command("events"), env, {
    name: "events",
    description: "list and search events",
    filters: eventFilters,
    id: "evt_0193…",
    include: "delivery",
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
    print: printTimeline,
  });
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
