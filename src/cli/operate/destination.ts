import { type Command, Option } from "commander";

import { isTrueAt, type JsonObject, textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import { destinationFilters } from "../../outbound/destinations/destination-filters.ts";
import { formatNames } from "../../outbound/formats/formats.ts";
import { destinationFields } from "../../outbound/model/destination-fields.ts";
import { argument, example, parseLine } from "../kit/arguments.ts";
import { type FieldOptions, fieldsIn, optionsOf } from "../kit/field-options.ts";
import { counted, note, painter } from "../kit/output.ts";
import { declareResource } from "../kit/resource.ts";
import { calling, serverOption, type ServerOptions } from "../kit/server-api.ts";

interface AddOptions extends ServerOptions, FieldOptions {
  readonly url: string;
  readonly format: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const destination = program.command("destination");
  declareResource(destination, env, {
    name: "destinations",
    description: "list and manage where notifications are sent",
    role: "admin",
    filters: destinationFilters,
    columns: {
      name: "name",
      format: "format",
      transport: "transport",
      state: "state",
      "suspended until": "openUntil",
      failures: "failures",
      filter: "filter",
      url: "url",
      user: "ownerId",
    },
    examples: ["skyhook destination", "skyhook destination deploys"],
    sample: "deploys",
    ids: "dst_",
    print: (found) => console.log(JSON.stringify(found, null, 2)),
    operations,
  });
  const creation = destination
    .command("add")
    .description("create a destination; prints its secret once")
    .argument("<name>", "such as deploys", argument(parseLine))
    .requiredOption("--url <url>", "where to post to; - reads it from standard input")
    .addOption(
      new Option("--format <format>", "what it receives").choices(formatNames).default("json"),
    );
  for (const option of optionsOf(destinationFields)) creation.addOption(option);
  creation
    .addOption(serverOption())
    .addHelpText(
      "after",
      example(
        "skyhook destination add deploys --format slack --url https://hooks.slack.com/services/T0/B0/X --filter 'event.type == \"deploy.error\"'",
      ),
    )
    .action((name: string, options: AddOptions) => add(name, options, env));
}

const operations = {
  test: { description: "send a test notification and print the response", done: printTest },
  pause: { description: "keep deliveries until it is resumed", done: "paused" },
  resume: { description: "send what was kept, in order", done: "resumed" },
  disable: { description: "store no more deliveries", done: "disabled" },
  rotate: {
    description: "make a new secret; the previous one also signs for 24 hours",
    done: (answer: JsonObject) => console.log(`secret=${textAt(answer, "secret")}`),
  },
  retry: {
    description: "send all dead deliveries again",
    done: (answer: JsonObject) => {
      const retried = Number(textAt(answer, "retried"));
      console.log(`${counted(retried, "delivery", "deliveries")} will be sent again`);
    },
  },
  remove: {
    description: "remove a destination and its deliveries",
    done: "removed",
    isRemoval: true,
  },
};

/** `skyhook destination add`. */
async function add(name: string, options: AddOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const { format } = options;
  const url = options.url === "-" ? (await Bun.stdin.text()).trim() : options.url;
  const body = { name, format, url, ...fieldsIn(options, destinationFields) };
  const made = await calling(options, env)("POST", "", body);
  console.log(`${painter(env)("green", "created")} ${name} (${textAt(made, "id")})`);
  const own = textAt(made, "secret");
  if (own !== null) {
    console.log(`secret=${own}`);
    note("Store the secret now: it cannot be shown again.");
  }
  console.log(`Test it: ${programName} destination test ${name}`);
}

function printTest(answer: JsonObject, name: string, env: NodeJS.ProcessEnv): void {
  const took = `${textAt(answer, "durationMs")} ms`;
  const status = textAt(answer, "responseStatus");
  if (isTrueAt(answer, "delivered")) {
    const how = status === null ? took : `HTTP ${status}, ${took}`;
    console.log(`${painter(env)("green", "delivered")} to ${name} (${how})`);
    return;
  }
  const advice = `To see where it posts to: ${programName} destination ${name}`;
  throw new Error(
    `${name} did not accept the test: ${textAt(answer, "error")} (${took}). ${advice}`,
  );
}
