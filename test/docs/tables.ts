import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { itemsAt, textAt } from "../../src/base/payload.ts";
import { transitions } from "../../src/booking/model/booking-state.ts";
import { secretPlaces } from "../../src/config/secrets.ts";
import { settings } from "../../src/config/settings.ts";
import { columnsOf } from "../../src/db/table.ts";
import { catalogue, defaultProviders } from "../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../src/inbound/providers/files/provider-file.ts";
import { interpret } from "../../src/inbound/providers/interpret.ts";
import type { Provider } from "../../src/inbound/providers/provider.ts";
import { schemeName } from "../../src/inbound/signatures/scheme-name.ts";
import {
  isTextScheme,
  signatureHeaders,
  signsCompactJson,
  toleranceOf,
} from "../../src/inbound/signatures/scheme.ts";
import { tools } from "../../src/mcp/tools/tools.ts";
import { type LinkedTable, linkedTables } from "../../src/persons/links.ts";
import { tables as allTables } from "../../src/schema/schema.ts";

import { pages } from "./markdown.ts";

/** The table of settings in docs/settings.md. */
export function settingsTable(): string {
  const rows = Object.values(settings).map(
    ({ key, default: value, doc }) =>
      `| \`${key}\` | ${value === null || value === "" ? "" : `\`${value}\``} | ${doc} |`,
  );
  return ["| variable | default | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

/** What agents can call, in docs/agents.md. */
export function toolTable(): string {
  const kinds = { bodies: "reads, with `bodies`", writes: "writes, with `writes`" } as const;
  const rows = tools.map(
    ({ name, description, needs }) =>
      `| \`${name}\` | ${description} | ${needs === null ? "reads" : kinds[needs]} |`,
  );
  return ["| tool | what it does | kind |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The lines of a systemd unit that load secrets. */
export const credentialLines = /(?:^LoadCredential=.*\n)+/m;

/** A line for each secret that the program reads in SECRETS_DIR. */
export function credentials(): string {
  const places = catalogue.flatMap(({ id }) => Object.values(secretPlaces(id, "")));
  const files = [
    ...places.map(({ file }) => file),
    "personal_data_key",
    "personal_data_key_previous",
  ];
  return files.map((file) => `LoadCredential=${file}`).join("\n");
}

/** What is received: the first table of docs/webhooks.md. */
export function providerTable(): string {
  const rows = catalogue.map((provider) => {
    const { id, signature } = provider;
    const off = defaultProviders.includes(id) ? "" : " (off unless named in `WEBHOOK_PROVIDERS`)";
    const headers = signatureHeaders(signature)
      .map((name) => `\`${name}\``)
      .join(", ");
    return `| \`${id}\`${off} | ${signing(provider)} | ${headers} |`;
  });
  const head = ["| provider | signature | headers |", "| --- | --- | --- |"];
  return [...head, ...rows].join("\n");
}

function signing({ signature }: Provider): string {
  if (signature.kind !== "hmac") return signature.kind;
  const { algorithm, encoding, prefix, timestamp } = signature;
  const form = [`HMAC-${algorithm.toUpperCase()}`, encoding];
  if (prefix !== undefined) form.push(`\`${prefix}\` before it`);
  if (signsCompactJson(signature)) form.push("over the raw or the compact JSON");
  if (timestamp !== undefined) {
    form.push(`\`t=…,v1=…\`, ${timestamp.toleranceSeconds / 60} minutes`);
  }
  return form.join(", ");
}

/** The services of the catalogue: a table of docs/providers.md. */
export function catalogueTable(): string {
  const rows = Object.entries(catalogueFiles).map(([name, text]) => {
    const file = readProviderFile(`${name}.yaml`, text);
    const service = `[${file.displayName}](${file.docs})`;
    const { signature, checkedWith = "" } = file;
    const scheme = schemeName(signature);
    const shown = checkedWith.replaceAll(saidOnce, "").replaceAll(/^\. |\.$/g, "");
    return `| \`${name}\` | ${service} | ${scheme} | ${shown} |`;
  });
  const head = ["| name | service | signature | checked with |", "| --- | --- | --- | --- |"];
  return [...head, ...rows].join("\n");
}

/** What the page says of all files, or the scheme's "(weaker)" of its own. */
const saidOnce =
  /^the formula in [^;,]+'s documentation(?=[;.]|$)|; not tried against [^;]+?(?=\. |$)| ?Weaker: [^:]+ sends the (?:secret|password)(?: token)? itself and signs nothing\./g;

/** What the deliveries of a provider without a signed id are identified by. */
const traits = {
  unsigned: "an unsigned id",
  none: "no id",
  time: "a signed time that counts",
  name: "an unsigned name that counts",
  retry: "members that a retry may change",
} as const;

type Trait = keyof typeof traits;

/** What identifies the deliveries of each provider: a table of docs/providers.md. */
export function identityTable(): string {
  const files = Object.entries(catalogueFiles).map(([id, text]) =>
    fileProvider(id, `${id}.yaml`, readProviderFile(`${id}.yaml`, text)),
  );
  const known = [...catalogue, ...files].map((provider) => ({
    name: `\`${provider.id}\``,
    has: traitsOf(provider),
  }));
  const rows = Object.entries(traits).map(([trait, text]) => {
    const names = known.filter(({ has }) => has.some((each) => each === trait));
    return `| ${text} | ${names.map(({ name }) => name).join(" ")} |`;
  });
  return ["| a delivery has | providers |", "| --- | --- |", ...rows].join("\n");
}

function traitsOf(provider: Provider): readonly Trait[] {
  const { id, deliveryIdIsSigned, signature, retryChanges = [] } = provider;
  const [sample] = Object.values(provider.samples);
  if (sample === undefined) throw new Error(`${id} has no sample`);
  const { headers, body } = sample({ id: crypto.randomUUID(), now: new Date() });
  const sent = new Headers({ ...headers });
  const bytes = Buffer.from(JSON.stringify(body));
  const asJson = { ...provider, payload: "json" } as const;
  const [event] = interpret(asJson, { bytes }, (name) => sent.get(name)) ?? [];
  const { deliveryId = null, unsignedName } = event ?? {};
  if (deliveryId !== null && deliveryIdIsSigned) return [];
  const found: Trait[] = [deliveryId === null ? "none" : "unsigned"];
  const time = isTextScheme(signature) ? signature.timestamp : toleranceOf(signature);
  if ((time ?? null) !== null && provider.retryChangesTime !== true) found.push("time");
  if (unsignedName !== undefined) found.push("name");
  if (retryChanges.length > 0) found.push("retry");
  return found;
}

/** The changes of a booking's status: a table of docs/bookings.md. */
export function transitionTable(): string {
  const rows = Object.entries(transitions).map(
    ([name, { from, to, by, event, seats, money }]) =>
      `| \`${name}\` | ${from ?? "(new)"} → ${to} | ${by} | \`${event}\` | ${seats} | ${money} |`,
  );
  const head = ["| change | status | by | event | seats | money |"];
  return [...head, "| --- | --- | --- | --- | --- | --- |", ...rows].join("\n");
}

/** The alerts of deploy/prometheus-rules.yaml: a table of docs/observability.md. */
export function alertTable(): string {
  const file = join(import.meta.dir, "../../deploy/prometheus-rules.yaml");
  const [group] = itemsAt(Bun.YAML.parse(readFileSync(file, "utf8")), "groups");
  const rows = itemsAt(group, "rules").map((rule) => {
    // A sentence with a value of the alert says nothing before there is one.
    const description = textAt(rule, "annotations", "description")?.replace(/^\{\{.*?\. /, "");
    return `| \`${textAt(rule, "alert")}\` | ${description} |`;
  });
  return ["| alert | what it means, and what to do |", "| --- | --- |", ...rows].join("\n");
}

/** The personal columns of each table, and what erasing does: a table of docs/personal-data.md. */
export function personalDataTable(): string {
  const linked: Readonly<Record<string, LinkedTable>> = linkedTables;
  const rows = Object.entries(allTables).flatMap(([name, table]) => {
    const columns = (["identifies", "text", "pseudonym"] as const).map((is) =>
      columnsOf(table)
        .filter(({ personal }) => personal === is)
        .map(({ field }) => field)
        .join(", "),
    );
    if (columns.every((names) => names === "")) return [];
    const erasing = (linked[name]?.links ?? []).map(({ column, erase }) => {
      const what = typeof erase === "string" ? erase : `rewrite ${Object.keys(erase).join(", ")}`;
      return `${what} by ${column}`;
    });
    return [[`\`${table.name}\``, ...columns, erasing.join("; ")]];
  });
  const head = ["table", "identifies", "text", "pseudonym", "erasing"];
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** Number, title and status of each record: the index of docs/decisions/. */
export function recordTable(): string {
  const records = pages.filter(({ file }) => /^docs\/decisions\/\d/.test(file));
  const rows = records.map(({ file, text }) => {
    const [, number, title, status] = /^# (\d+)\. (.+)\n\n\*Status:\* (.+)\n/.exec(text) ?? [];
    if (status === undefined) throw new Error(`${file} has no number, title and status`);
    return `| [${number}](${basename(file)}) | ${title} | ${status} |`;
  });
  return ["| record | choice | status |", "| --- | --- | --- |", ...rows].join("\n");
}
