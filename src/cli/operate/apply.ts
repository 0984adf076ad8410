import { type Command, Option } from "commander";

import { type JsonObject, textAt } from "../../base/payload.ts";
import { formats } from "../../outbound/formats/formats.ts";
import { destinationDefaults } from "../../outbound/model/destination-fields.ts";
import { headersIn, namesOf } from "../../outbound/model/destination-headers.ts";
import { shownUrl } from "../../outbound/model/destination-secrets.ts";
import { operatorGateway } from "../../outbound/model/destination.ts";
import { example } from "../kit/arguments.ts";
import { messageOf } from "../kit/errors.ts";
import { readBody } from "../kit/input.ts";
import { counted, note, painter } from "../kit/output.ts";
import { allOf, type Call, calling, serverOption, type ServerOptions } from "../kit/server-api.ts";

import { type DestinationEntry, readDestinationsFile } from "./destinations-file.ts";

interface ApplyOptions extends ServerOptions {
  readonly dryRun?: true;
  readonly prune?: true;
  readonly from?: (typeof productNames)[number];
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("apply")
    .description("create and change destinations from a file (through the running server)")
    .argument("<file>", "YAML or JSON")
    .addOption(
      new Option(
        "--from <product>",
        "only print a file for apply, made from this product's list of connections, endpoints or subscriptions",
      ).choices(productNames),
    )
    .option("--dry-run", "print the difference and change nothing")
    .option("--prune", "also remove destinations that are not in the file")
    .addOption(serverOption())
    .addHelpText(
      "after",
      example(
        "skyhook apply destinations.yaml --dry-run",
        "skyhook apply connections.json --from hookdeck > destinations.yaml",
      ),
    )
    .action((file: string, options: ApplyOptions) => apply(file, options, env));
}

/** Products whose lists can be made into a file. */
const productNames = ["hookdeck", "svix", "convoy"] as const;

/** One difference between the file and the server. */
interface Change {
  readonly sign: "+" | "~" | "-";
  readonly name: string;
  readonly details: readonly string[];
  make(call: Call): Promise<void>;
}

/** `skyhook apply`: prints the difference, then makes it so. */
export async function apply(
  file: string,
  options: ApplyOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const text = Buffer.from(await readBody(file)).toString();
  if (options.from !== undefined) return printMoved(options.from, text);
  const wanted = readDestinationsFile(file, text, env);
  const call = calling(options, env);
  const all = await allOf(call);
  // A file describes the operators' destinations. Users have their own.
  const there = all.filter((each) => textAt(each, "ownerId") === null);
  const changes = changesTo(wanted, there, options.prune === true);
  const paint = painter(env);
  const colours = { "+": "green", "~": "yellow", "-": "red" } as const;
  for (const { sign, name, details } of changes) {
    console.log(paint(colours[sign], `${sign} ${name}`));
    for (const detail of details) console.log(`    ${detail}`);
  }
  if (changes.length === 0) return console.log("nothing to change");
  if (options.dryRun === true)
    return console.log(`${counted(changes.length, "change")} not made (--dry-run)`);
  for (const change of changes) {
    await change.make(call).catch((error: unknown) => {
      throw new Error(`${change.name}: ${messageOf(error)}`, { cause: error });
    });
  }
  console.log(`${counted(changes.length, "change")} made`);
}

async function printMoved(product: (typeof productNames)[number], list: string): Promise<void> {
  // Loads the files of all services.
  const { movedDestinations } = await import("./moved-destinations.ts");
  const { text, lost } = movedDestinations(product, list);
  console.log(text);
  for (const line of lost) note(`not carried over: ${line}`);
}

function changesTo(
  wanted: readonly DestinationEntry[],
  there: readonly JsonObject[],
  prunes: boolean,
): readonly Change[] {
  const named = (name: string) => there.find((each) => textAt(each, "name") === name);
  const names = new Set<string | null>(wanted.map(({ name }) => name));
  const removed = prunes
    ? there.filter((each) => {
        const name = textAt(each, "name");
        return name !== operatorGateway.name && !names.has(name);
      })
    : [];
  return [
    ...wanted.flatMap((entry) => {
      const found = named(entry.name);
      return found === undefined ? [creation(entry)] : difference(entry, found);
    }),
    ...removed.map(removal),
  ];
}

function creation(entry: DestinationEntry): Change {
  const { state = "active", ...body } = entry;
  return {
    sign: "+",
    name: entry.name,
    details: Object.entries(fieldsOf(entry)).flatMap(([field, value]) =>
      value === null ? [] : [`${field}: ${String(value)}`],
    ),
    async make(call) {
      const made = await call("POST", "", body);
      const secret = textAt(made, "secret");
      if (secret !== null) console.log(`${entry.name} secret=${secret}`);
      if (state !== "active") await call("POST", `/${textAt(made, "id")}/${verbFor[state]}`);
    },
  };
}

const verbFor = { active: "resume", paused: "pause", disabled: "disable" } as const;

/** The fields that can be compared: the server shows URLs without their secret parts. */
function fieldsOf(entry: DestinationEntry) {
  const { name: _, url, secret: __, headers = null, tokenUrl = null, ...others } = entry;
  return {
    url: shownUrl(url),
    transport: formats[entry.format].transport,
    ...destinationDefaults,
    state: "active",
    ...others,
    headerNames: namesOf(headersIn(headers)),
    tokenUrl: tokenUrl && shownUrl(tokenUrl),
  };
}

function difference(entry: DestinationEntry, found: JsonObject): readonly Change[] {
  const fields = fieldsOf(entry);
  const changed = Object.entries(fields).filter(([field, value]) => found[field] !== value);
  if (changed.length === 0) return [];
  const path = `/${textAt(found, "id")}`;
  const { name: _, url, secret, headers = null, tokenUrl = null } = entry;
  return [
    {
      sign: "~",
      name: entry.name,
      details: changed.map(
        ([field, value]) => `${field}: ${String(found[field])} → ${String(value)}`,
      ),
      async make(call) {
        const names = changed.map(([field]) => field);
        const { url: _, headerNames: __, ...rest } = fields;
        const body = { ...rest, headers, tokenUrl, ...(secret !== undefined && { secret }) };
        await call("PATCH", path, names.includes("url") ? { ...body, url } : body);
      },
    },
  ];
}

function removal(found: JsonObject): Change {
  return {
    sign: "-",
    name: textAt(found, "name") ?? "",
    details: [],
    async make(call) {
      await call("DELETE", `/${textAt(found, "id")}`);
    },
  };
}
