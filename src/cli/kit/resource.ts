import type { Command } from "commander";

import type { Role } from "../../base/context.ts";
import type { Filters } from "../../base/filters.ts";
import { nearest } from "../../base/nearest.ts";
import { type JsonObject, textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";

import { argument, example, wholeNumber } from "./arguments.ts";
import { messageOf } from "./errors.ts";
import { filtersIn, type GivenFilters, withFilters } from "./filter-options.ts";
import { type Columns, jsonOption, type ListOptions, printLines, printList } from "./lists.ts";
import { note, painter, UsageError } from "./output.ts";
import {
  allOf,
  type Call,
  calling,
  pagesOf,
  serverOption,
  type ServerOptions,
} from "./server-api.ts";

/** A resource of the API. Its commands are made from this: they list, show and change it on the running server. */
export interface Resource {
  /** The plural, which is the last part of its path: `/v1/sessions`. */
  readonly name: string;
  readonly description: string;
  readonly role: Role;
  readonly filters: Filters;
  /** What a list asks for besides the filters, such as `include`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly columns: Columns;
  readonly examples: readonly string[];
  /** Names one, such as `evt_0193…`. */
  readonly sample: string;
  /** Where a name can stand for the id: how ids start. */
  readonly ids?: string;
  /** Prints one in full. Without it, none can be read. */
  readonly print?: (item: JsonObject) => void;
  /** What to do with one, by the last part of the path. */
  readonly operations?: Readonly<Record<string, OperationOnOne>>;
}

interface OperationOnOne {
  readonly description: string;
  /** The word before the name of what was changed, or what prints the answer. */
  readonly done: string | ((answer: JsonObject, name: string, env: NodeJS.ProcessEnv) => void);
  /** It removes the resource itself. */
  readonly isRemoval?: boolean;
}

type StoredListOptions = ServerOptions &
  ListOptions & { readonly limit: number } & GivenFilters<Filters>;

/** The most items of one page of the API. */
const pageSize = 100;

/** Makes the commands of a resource: `skyhook <command> [id]` and `skyhook <command> <operation> <id>`. */
export function declareResource(command: Command, env: NodeJS.ProcessEnv, of: Resource): void {
  const { name, description, filters, examples, sample, print, operations = {} } = of;
  command.description(`${description} (through the running server)`).enablePositionalOptions();
  if (print !== undefined) command.argument("[id]", `show this one in full, such as ${sample}`);
  withFilters(command, filters)
    .option("--limit <number>", `most ${name} to print`, argument(wholeNumber(999_999)), 20)
    .addOption(jsonOption())
    .addOption(serverOption())
    .addHelpText("after", example(...examples))
    .action(async (...given: readonly unknown[]) => {
      // Guarantee: Commander passes the argument, if there is one, then the options that are declared here.
      const [id, options] = (print === undefined ? [undefined, ...given] : given) as [
        string | undefined,
        StoredListOptions,
      ];
      const call = callingOf(of, options, env);
      if (id === undefined) return printStored(of, options, call);
      try {
        await printOne(of, id, options, call);
      } catch (error) {
        const operation = nearest(
          id,
          command.commands.map((each) => each.name()),
        );
        if (operation === null || error instanceof UsageError) throw error;
        const meant = `${programName} ${command.name()} ${operation}`;
        throw new Error(`${messageOf(error)} Did you mean \`${meant}\`?`, { cause: error });
      }
    });
  for (const [verb, operation] of Object.entries(operations)) {
    command
      .command(verb)
      .description(operation.description)
      .argument(of.ids === undefined ? "<id>" : "<name or id>", `such as ${sample}`)
      .addOption(serverOption())
      .addHelpText("after", example(`skyhook ${command.name()} ${verb} ${sample}`))
      .action((named: string, options: ServerOptions) =>
        operate(of, verb, operation, named, callingOf(of, options, env), env),
      );
  }
}

const callingOf = ({ name, role }: Resource, options: ServerOptions, env: NodeJS.ProcessEnv) =>
  calling(options, env, { path: `/v1/${name}`, role });

async function printOne(
  of: Resource,
  named: string,
  options: StoredListOptions,
  call: Call,
): Promise<void> {
  if (Object.keys(filtersIn(of.filters, options)).length > 0) {
    throw new UsageError("An id names one. Leave out the filters");
  }
  const found = await call("GET", await pathOf(of, named, call));
  if (options.json === true) printLines([found]);
  else of.print?.(found);
}

async function printStored(
  { name, filters, query, columns }: Resource,
  options: StoredListOptions,
  call: Call,
): Promise<void> {
  const limit = String(Math.min(options.limit, pageSize));
  let printed = 0;
  for await (const page of pagesOf(call, { ...query, limit, ...filtersIn(filters, options) })) {
    const wanted = page.slice(0, options.limit - printed);
    if (wanted.length > 0) printList(wanted, columns, options, printed === 0);
    printed += wanted.length;
    if (printed === options.limit) break;
  }
  if (printed === 0) note(`No ${name} found.`);
}

async function operate(
  of: Resource,
  verb: string,
  { done, isRemoval = false }: OperationOnOne,
  named: string,
  call: Call,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const path = await pathOf(of, named, call);
  const answer = await (isRemoval ? call("DELETE", path) : call("POST", `${path}/${verb}`));
  if (typeof done === "string") console.log(`${painter(env)("green", done)} ${named}`);
  else done(answer, named, env);
}

async function pathOf({ name, ids = "" }: Resource, named: string, call: Call) {
  const id = named.startsWith(ids) ? named : idOf(name, named, await allOf(call));
  return `/${encodeURIComponent(id)}`;
}

/** The id of the one with a name: the operators' own one, or else the only one of a user. */
function idOf(resources: string, name: string, all: readonly JsonObject[]): string {
  const same = all.filter((each) => textAt(each, "name") === name);
  const own = same.filter((each) => textAt(each, "ownerId") === null);
  const ids = (own.length > 0 ? own : same).map((each) => textAt(each, "id") ?? "");
  const [id, ...others] = ids;
  if (id === undefined) {
    const near = nearest(
      name,
      all.map((each) => textAt(each, "name") ?? ""),
    );
    const hint = near === null ? "" : `. Did you mean ${near}?`;
    throw new Error(`There is no ${resources.slice(0, -1)} ${name}${hint}`);
  }
  if (others.length === 0) return id;
  throw new Error(
    `${ids.length} users have a ${resources.slice(0, -1)} ${name}. Name one by its id: ${ids.join(", ")}`,
  );
}
