import { type Command, Option } from "commander";

import { isTrueAt, type JsonObject, textAt } from "../base/payload.ts";
import { destinationFields } from "../outbound/destination-fields.ts";
import { formatNames } from "../outbound/formats/formats.ts";

import { argument, example, parseLine } from "./arguments.ts";
import { type FieldOptions, fieldsIn, optionsOf } from "./field-options.ts";
import { jsonOption, type ListOptions, printList } from "./lists.ts";
import { counted, note, painter } from "./output.ts";
import { programName } from "./program.ts";
import { allOf, calling, serverOption, type ServerOptions } from "./server-api.ts";

interface AddOptions extends ServerOptions, FieldOptions {
  readonly to: string;
  readonly format: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const destination = program
    .command("destination")
    .description("manage where notifications are sent (through the running server)");
  const creation = destination
    .command("add")
    .description("create a destination; prints its secret once")
    .argument("<name>", "such as deploys", argument(parseLine))
    .requiredOption("--to <address>", "where to post to; - reads it from standard input")
    .addOption(
      new Option("--format <format>", "what it receives").choices(formatNames).default("json"),
    );
  for (const option of optionsOf(destinationFields)) creation.addOption(option);
  creation
    .addOption(serverOption())
    .addHelpText(
      "after",
      example(
        "skyhook destination add deploys --format slack --to https://hooks.slack.com/services/T0/B0/X --filter 'event.type == \"deploy.error\"'",
      ),
    )
    .action((name: string, options: AddOptions) => add(name, options, env));
  destination
    .command("list")
    .description("list all destinations with their health")
    .addOption(jsonOption())
    .addOption(serverOption())
    .addHelpText("after", example("skyhook destination list"))
    .action((options: ServerOptions & ListOptions) => list(options, env));
  for (const [verb, description] of Object.entries(verbs)) {
    destination
      .command(verb)
      .description(description)
      .argument("<name or id>")
      .addOption(serverOption())
      .addHelpText("after", example(`skyhook destination ${verb} deploys`))
      .action((name: string, options: ServerOptions) => act(verb, name, options, env));
  }
}

const verbs: Readonly<Record<string, string>> = {
  show: "print a destination",
  test: "send a test notification and print the response",
  pause: "keep deliveries until it is resumed",
  resume: "send what was kept, in order",
  disable: "store no more deliveries",
  rotate: "make a new secret; the previous one also signs for 24 hours",
  retry: "send all dead deliveries again",
  remove: "remove a destination and its deliveries",
};

/** `skyhook destination add`. */
async function add(name: string, options: AddOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const { to, format } = options;
  const url = to === "-" ? (await Bun.stdin.text()).trim() : to;
  const body = { name, format, url, ...fieldsIn(options, destinationFields) };
  const made = await calling(options, env)("POST", "", body);
  console.log(`${painter(env)("green", "created")} ${name} (${textAt(made, "id")})`);
  const own = textAt(made, "secret");
  if (own !== null) {
    console.log(`secret=${own}`);
    console.error("Store the secret now: it cannot be shown again.");
  }
  console.log(`Test it: ${programName} destination test ${name}`);
}

const columns = {
  name: "name",
  format: "format",
  transport: "transport",
  state: "state",
  failures: "failures",
  filter: "filter",
  address: "address",
  user: "ownerId",
};

/** `skyhook destination list`. */
async function list(options: ServerOptions & ListOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const all = await allOf(calling(options, env));
  if (all.length === 0) {
    note(`No destinations. Create one: ${programName} destination add --help`);
    return;
  }
  const isOpen = (each: JsonObject) =>
    textAt(each, "openUntil") !== null && textAt(each, "state") === "active";
  const health = (each: JsonObject) => (isOpen(each) ? "suspended" : textAt(each, "state"));
  const shown = options.json ? all : all.map((each) => ({ ...each, state: health(each) }));
  printList(shown, columns, options);
}

/** The other commands of `skyhook destination`, on one destination. */
async function act(
  verb: string,
  name: string,
  options: ServerOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const call = calling(options, env);
  const found = named(name, await allOf(call));
  const path = `/${textAt(found, "id")}`;
  const paint = painter(env);
  if (verb === "show") return console.log(JSON.stringify(found, null, 2));
  if (verb === "remove") await call("DELETE", path);
  const answer = verb === "remove" ? {} : await call("POST", `${path}/${verb}`);
  if (verb === "test") return printTest(answer, name, env);
  if (verb === "rotate") console.log(`secret=${textAt(answer, "secret")}`);
  if (verb === "retry") {
    const retried = Number(textAt(answer, "retried"));
    return console.log(`${counted(retried, "delivery", "deliveries")} will be sent again`);
  }
  console.log(`${paint("green", done[verb] ?? verb)} ${name}`);
}

/** The destination with an id or a name: the operators' own one, or else the only one of a user. */
function named(name: string, all: readonly JsonObject[]): JsonObject {
  const same = all.filter((each) => [textAt(each, "name"), textAt(each, "id")].includes(name));
  const own = same.filter((each) => textAt(each, "ownerId") === null);
  const [found, ...others] = own.length > 0 ? own : same;
  if (found !== undefined && others.length === 0) return found;
  if (found === undefined) {
    throw new Error(
      `There is no destination ${name}: list them with \`${programName} destination list\``,
    );
  }
  const ids = same.map((each) => textAt(each, "id")).join(", ");
  throw new Error(`${same.length} users have a destination ${name}. Name one by its id: ${ids}`);
}

const done: Readonly<Record<string, string>> = {
  pause: "paused",
  resume: "resumed",
  disable: "disabled",
  rotate: "rotated",
  remove: "removed",
};

function printTest(answer: JsonObject, name: string, env: NodeJS.ProcessEnv): void {
  const took = `${textAt(answer, "durationMs")} ms`;
  const status = textAt(answer, "responseStatus");
  if (isTrueAt(answer, "delivered")) {
    const how = status === null ? took : `HTTP ${status}, ${took}`;
    console.log(`${painter(env)("green", "delivered")} to ${name} (${how})`);
    return;
  }
  const advice = `To see where it posts to: ${programName} destination show ${name}`;
  throw new Error(
    `${name} did not accept the test: ${textAt(answer, "error")} (${took}). ${advice}`,
  );
}
