import { readFileSync } from "node:fs";
import { join } from "node:path";

import { millionTable, sizingTable } from "../../bench/sizing.ts";
import { schemasOf } from "../../src/events/event-schemas.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../src/inbound/providers/files/catalogue-files.ts";
import { publishedSchema } from "../../src/inbound/providers/files/provider-schema.rest.ts";
import { problems } from "../../src/web/problems.ts";
import { eventCatalogue } from "../../src/wiring/event-catalogue.ts";

import { limitTable } from "./limits.ts";
import {
  alertTable,
  catalogueTable,
  credentialLines,
  credentials,
  identityTable,
  personalDataTable,
  providerTable,
  recordTable,
  settingsTable,
  toolTable,
  transitionTable,
} from "./tables.ts";

/** A part of a file that is written from code. */
interface GeneratedPart {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  /** What it replaces; by default, all between `<!-- name -->` and `<!-- /name -->`. */
  readonly place?: RegExp;
  /** A part of a line. */
  readonly isInline?: true;
}

const results = readFileSync(join(import.meta.dir, "../../bench/RESULTS.md"), "utf8");

export const generatedParts = (): readonly GeneratedPart[] => [
  { file: "docs/settings.md", name: "settings", text: settingsTable() },
  { file: "docs/decisions/README.md", name: "records", text: recordTable() },
  { file: "docs/security.md", name: "limits", text: limitTable() },
  { file: "docs/operations.md", name: "sizing", text: sizingTable(results) },
  { file: "docs/operations.md", name: "million", text: millionTable(results) },
  { file: "deploy/skyhook.service", name: "secrets", text: credentials(), place: credentialLines },
  { file: "docs/api.md", name: "errors", text: errorTable() },
  { file: "docs/webhooks.md", name: "providers", text: providerTable() },
  ...messageParts(),
  { file: "docs/personal-data.md", name: "personal", text: personalDataTable() },
  { file: "docs/agents.md", name: "tools", text: toolTable() },
  { file: "docs/bookings.md", name: "transitions", text: transitionTable() },
  { file: "docs/observability.md", name: "alerts", text: alertTable() },
  { file: "docs/providers.md", name: "catalogue", text: catalogueTable() },
  { file: "docs/providers.md", name: "identities", text: identityTable() },
  ...["README.md", "docs/README.md", "CHANGELOG.md"].map((file) => ({
    file,
    name: "services",
    text: String(Object.keys(catalogueFiles).length),
    place: /\b\d+(?=(?: more services| files come with it))/,
    isInline: true as const,
  })),
  {
    file: "docs/providers.md",
    name: "built-in",
    text: sentenceOf(catalogue.map(({ displayName }) => displayName)),
    place: /(?<=service that sends webhooks\. ).*(?= are built in\.)/,
    isInline: true,
  },
  { file: "docs/provider.schema.json", name: "schema", text: publishedSchema(), place: /^.*$/s },
];

const sentenceOf = (names: readonly string[]) =>
  new Intl.ListFormat("en-GB", { type: "conjunction" }).format(names);

/** A message in both formats, for docs/events.md: all of it, and what the other format wraps it in. */
function messageParts(): readonly GeneratedPart[] {
  const shown = eventCatalogue(catalogue).find(({ event }) => event.type === shownType);
  if (shown === undefined) throw new Error(`There is no ${shownType}`);
  const { json, cloudevents } = schemasOf(shown);
  const envelope = { ...Object(cloudevents.example), data: "…" };
  return Object.entries({ message: json.example, envelope }).map(([name, value]) => ({
    file: "docs/events.md",
    name,
    text: `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``,
  }));
}

const shownType = "workflow_run.completed";

/** The file with the part put in its place. Throws when the file has no such place. */
export function withPart(page: string, part: GeneratedPart): string {
  const { file, name, text, isInline = false } = part;
  const between = new RegExp(`(?<=<!-- ${name} -->\n).*?(?=<!-- /${name} -->)`, "s");
  const { place = between } = part;
  if (!place.test(page)) throw new Error(`${file} has no place for its ${name}: ${place.source}`);
  return page.replace(place, () => (isInline ? text : `${text}\n`));
}

function errorTable(): string {
  const byStatus = Map.groupBy(Object.entries(problems), ([, { status }]) => status);
  const rows = Array.from(byStatus, ([status, each]) => {
    const codes = each.map(([code]) => `\`${code}\``);
    return `| ${status} | ${codes.join(", ")} |`;
  });
  return ["| status | codes |", "| --- | --- |", ...rows].join("\n");
}
