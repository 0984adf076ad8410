import { type Command, Option } from "commander";

import type { Filters } from "../base/filters.ts";
import { at, type JsonObject, printable, textAt } from "../base/payload.ts";

import { argument, example, wholeNumber } from "./arguments.ts";
import { filtersIn, type GivenFilters, withFilters } from "./filter-options.ts";
import { table, UsageError } from "./output.ts";
import { calling, pagesOf, serverOption, type ServerOptions } from "./server-api.ts";

/** What every command that prints a list can be told. */
export interface ListOptions {
  readonly json?: true;
}

export function jsonOption(): Option {
  return new Option("--json", "one JSON object per line");
}

/** The heads of a table with the fields that their cells show. */
type Columns = Readonly<Record<string, string>>;

const longestCell = 60;

/** Prints items as a table, or with --json one object per line. `withHead`: false for a further page. */
export function printList(
  items: readonly object[],
  columns: Columns,
  { json }: ListOptions,
  withHead = true,
): void {
  if (json === true) return printLines(items);
  const rows = items.map((item) => Object.values(columns).map((field) => cellOf(item, field)));
  const lines = withHead ? [Object.keys(columns), ...rows] : rows;
  if (lines.length > 0) console.log(table(lines));
}

/** Prints one JSON object per line. */
export function printLines(items: readonly object[]): void {
  for (const item of items) console.log(JSON.stringify(item));
}

function cellOf(item: object, field: string): string {
  const value = at(item, field);
  if (value instanceof Date) return value.toISOString();
  const text = Array.isArray(value) ? value.join(", ") : textAt(item, field);
  return printable(text ?? "", longestCell) ?? "-";
}

/** A list of the server that a command prints. */
interface StoredList {
  readonly name: string;
  readonly description: string;
  readonly filters: Filters;
  /** Of which the command prints one in full, such as `evt_0193…`. */
  readonly id: string;
  /** What the API adds to each item. */
  readonly include: string;
  readonly columns: Columns;
  readonly examples: readonly string[];
  /** Prints one item in full. */
  readonly print: (item: JsonObject) => void;
}

export type StoredListOptions = ServerOptions &
  ListOptions & { readonly limit: number } & GivenFilters<Filters>;

/** The most items of one page of the API. */
const pageSize = 100;

type PrintList = (id: string | undefined, options: StoredListOptions) => Promise<void>;

/** Makes a command print a list of the server at `/v1/<name>`, or one item of it. Returns what it does. */
export function declareList(command: Command, env: NodeJS.ProcessEnv, list: StoredList): PrintList {
  const { name, description, filters, id: sample, examples } = list;
  const act: PrintList = (id, options) =>
    id === undefined ? printStored(list, options, env) : printOne(list, id, options, env);
  command
    .description(`${description}, newest first (through the running server)`)
    .argument("[id]", `show this one in full, such as ${sample}`);
  withFilters(command, filters)
    .option(
      "--limit <number>",
      `maximum number of ${name} to print`,
      argument(wholeNumber(999_999)),
      20,
    )
    .addOption(jsonOption())
    .addOption(serverOption())
    .addHelpText("after", example(...examples))
    .action(act);
  return act;
}

async function printOne(
  { name, filters, print }: StoredList,
  id: string,
  options: StoredListOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (Object.keys(filtersIn(filters, options)).length > 0) {
    throw new UsageError("An id names one. Leave out the filters");
  }
  const call = calling(options, env, { path: `/v1/${name}`, role: "operator" });
  const found = await call("GET", `/${encodeURIComponent(id)}`);
  if (options.json === true) printLines([found]);
  else print(found);
}

async function printStored(
  { name, filters, include, columns }: StoredList,
  options: StoredListOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const call = calling(options, env, { path: `/v1/${name}`, role: "operator" });
  const limit = String(Math.min(options.limit, pageSize));
  let printed = 0;
  for await (const page of pagesOf(call, { include, limit, ...filtersIn(filters, options) })) {
    const wanted = page.slice(0, options.limit - printed);
    if (wanted.length > 0) printList(wanted, columns, options, printed === 0);
    printed += wanted.length;
    if (printed === options.limit) break;
  }
  if (printed === 0) console.error(`No ${name} found.`);
}
