import { readFileSync } from "node:fs";
import { join } from "node:path";

import { millionTable, sizingTable } from "../../bench/sizing.ts";
import { bookingEvents } from "../../src/booking/events/own-events.ts";
import type { Event } from "../../src/event/event.ts";
import type { NewNotification } from "../../src/event/new-notification.ts";
import { schemasOf } from "../../src/events/event-schemas.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../src/inbound/providers/files/provider-file.ts";
import { publishedSchema } from "../../src/inbound/providers/files/provider-schema.rest.ts";
import { interpret, notificationsOf } from "../../src/inbound/providers/interpret.ts";
import type { Provider, Sample } from "../../src/inbound/providers/provider.ts";
import { eventIdentity } from "../../src/inbound/receive/event-identity.ts";
import { cloudEvent } from "../../src/outbound/formats/cloud-event.ts";
import { problems } from "../../src/web/problems.ts";
import { eventCatalogue } from "../../src/wiring/event-catalogue.ts";

import { limitTable } from "./limits.ts";
import {
  catalogueTable,
  credentialLines,
  credentials,
  identityTable,
  personalDataTable,
  providerTable,
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
}

const now = new Date("2026-11-21T09:12:44.120Z");
const uuid = "019a9f0c5d7b7c3a8e21d4f60b7a9c55";
const eventId = `evt_${uuid}` as const;
const notificationId = "ntf_019a9f0c5d7c7f0e9a4b1c2d3e4f5a6b";
const deliveryId = "0b9f3c52-8c1e-4d7a-9f26-51a1c0de7e11";

const results = readFileSync(join(import.meta.dir, "../../bench/RESULTS.md"), "utf8");

export const generatedParts = (): readonly GeneratedPart[] => [
  { file: "docs/settings.md", name: "settings", text: settingsTable() },
  { file: "docs/security.md", name: "limits", text: limitTable() },
  { file: "docs/operations.md", name: "sizing", text: sizingTable(results) },
  { file: "docs/operations.md", name: "million", text: millionTable(results) },
  { file: "deploy/skyhook.service", name: "secrets", text: credentials(), place: credentialLines },
  { file: "docs/api.md", name: "errors", text: errorTable() },
  { file: "docs/webhooks.md", name: "providers", text: providerTable() },
  { file: "docs/webhooks.md", name: "example", text: wholeExample() },
  { file: "docs/webhooks.md", name: "events", text: eventTable() },
  ...eventPage(),
  { file: "docs/personal-data.md", name: "personal", text: personalDataTable() },
  { file: "docs/agents.md", name: "tools", text: toolTable() },
  { file: "docs/payments.md", name: "transitions", text: transitionTable() },
  { file: "docs/providers.md", name: "catalogue", text: catalogueTable() },
  { file: "docs/providers.md", name: "identities", text: identityTable() },
  ...["README.md", "docs/README.md", "docs/webhooks.md", "CHANGELOG.md"].map((file) => ({
    file,
    name: "services",
    text: String(Object.keys(catalogueFiles).length),
    place: /\b\d+(?=(?: more services|\smore, see| services\.| files come with it))/,
  })),
  { file: "docs/provider.schema.json", name: "schema", text: publishedSchema(), place: /^.*$/s },
];

/** What destinations receive of each type. */
function eventPage(): readonly GeneratedPart[] {
  const all = eventCatalogue([...catalogue, ...fileProviders]);
  const kindOf = (id: string) => {
    if (catalogue.some((provider) => provider.id === id)) return "built-in";
    return id === "bookings" || id === "skyhook" ? "own" : "catalogue";
  };
  const table = (kind: string) =>
    [
      "| type | example | its `data` |",
      "|---|---|---|",
      ...all
        .filter(({ event, others }) => kindOf(event.provider) === kind && others === undefined)
        .map(({ event }) => {
          const data = Object.keys(event.data).length === 0 ? "" : codeOf(event.data);
          return `| \`${event.provider}.${event.type}\` | ${cellText(event.title)} | ${data} |`;
        }),
    ].join("\n");
  const shown = all.find(({ event }) => event.type === "workflow_run.completed");
  const message = shown && schemasOf(shown).json.example;
  const parts = { message: `\`\`\`json\n${JSON.stringify(message, null, 2)}\n\`\`\`` };
  const tables = ["own", "built-in", "catalogue"].map((kind) => [kind, table(kind)] as const);
  return [...Object.entries(parts), ...tables].map(([name, text]) => ({
    file: "docs/events.md",
    name,
    text,
  }));
}

const fileProviders = Object.entries(catalogueFiles).map(([id, text]) =>
  fileProvider(id, `${id}.yaml`, readProviderFile(id, text)),
);

const cellText = (text: string) => text.replaceAll(/[|\\`*_<>[\]]/g, "\\$&");
const codeOf = (value: object) =>
  `\`${JSON.stringify(value).replaceAll("|", "¦").replaceAll("`", "'")}\``;

/** The file with the part put in its place. Throws when the file has no such place. */
export function withPart(page: string, part: GeneratedPart): string {
  const { file, name, text } = part;
  const between = new RegExp(`(?<=<!-- ${name} -->\n).*?(?=<!-- /${name} -->)`, "s");
  const { place = between } = part;
  if (!place.test(page)) throw new Error(`${file} has no place for its ${name}: ${place.source}`);
  return page.replace(place, () => (name === "services" ? text : `${text}\n`));
}

function errorTable(): string {
  const byStatus = Map.groupBy(Object.entries(problems), ([, { status }]) => status);
  const rows = Array.from(byStatus, ([status, each]) => {
    const codes = each.map(([code]) => `\`${code}\``);
    return `| ${status} | ${codes.join(", ")} |`;
  });
  return ["| status | codes |", "| --- | --- |", ...rows].join("\n");
}

/** An event, and what operators receive for it. */
interface Received {
  readonly event: Event;
  readonly message: NewNotification;
}

/** The event and the message of a sample delivery, made as for a real one. */
function receivedOf(provider: Provider, sample: Sample): Received {
  const { headers, body } = sample({ id: deliveryId, now });
  const bytes = Buffer.from(JSON.stringify(body));
  const lowered = new Headers(headers);
  const [interpreted] = interpret(provider, { bytes }, (name) => lowered.get(name)) ?? [];
  if (interpreted === undefined) throw new Error(`A sample of ${provider.id} cannot be read`);
  const { status, type, occurredAt, subject, title, url, actor, data } = interpreted;
  const { keys } = eventIdentity(provider, interpreted, {
    signedBytes: bytes,
    signedContext: "",
  });
  const event: Event = {
    id: eventId,
    provider: provider.id,
    type,
    status,
    idempotencyKey: keys[0],
    occurredAt: occurredAt ?? now,
    createdAt: now,
    subject,
    title,
    url,
    actor,
    data,
    recovered: false,
  };
  const [message] = notificationsOf(provider, event, null);
  if (message === undefined) throw new Error(`${provider.id} has no message for ${type}`);
  return { event, message };
}

function eventTable(): string {
  const ofProviders = catalogue.flatMap((provider) =>
    Object.values(provider.samples).map((sample) => receivedOf(provider, sample)),
  );
  const all = [
    ...ofProviders,
    ...bookingEvents().map(({ event, notification }) => ({ event, message: notification })),
  ];
  const rows = all.map(({ event: { provider, type }, message: { severity, title } }) => {
    return `| \`${provider}\` \`${type}\` | ${severity} | ${title.replaceAll("|", "\\|")} |`;
  });
  const byProvider = Map.groupBy(all, ({ event }) => event.provider);
  const fieldRows = Array.from(byProvider, ([provider, received]) => {
    const fields = new Set(received.flatMap(({ event }) => Object.keys(event.data)));
    return `| \`${provider}\` | ${Array.from(fields, (name) => `\`${name}\``).join(" ")} |`;
  });
  return [
    ["| event | severity | title |", "| --- | --- | --- |", ...rows].join("\n"),
    ["| provider | fields of `data.event.data` |", "| --- | --- |", ...fieldRows].join("\n"),
  ].join("\n\n");
}

function wholeExample(): string {
  const [provider] = catalogue.filter(({ id }) => id === "code_host");
  const sample = provider?.samples["workflow_run.completed"];
  if (provider === undefined || sample === undefined)
    throw new Error("code_host has no such event");
  const { event, message } = receivedOf(provider, sample);
  const { title, text, url, severity } = message;
  const data = { notificationId, title, text, url, severity, createdAt: event.createdAt, event };
  return `\`\`\`json\n${JSON.stringify(cloudEvent(event, data), null, 2)}\n\`\`\``;
}
