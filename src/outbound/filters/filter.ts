import type { ASTNode, Environment, EvaluationError } from "@marcbachmann/cel-js";
import type { Static } from "@sinclair/typebox";

import { errorMessage } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { nearest } from "../../base/nearest.ts";
import type { Event } from "../../event/event.ts";
import type { Severity } from "../../event/new-notification.ts";
import { mapOf, resource, scalar, text } from "../../web/schema.ts";
import { maxFilterCharacters } from "../model/destination-fields.ts";

import { calledBy, operands, pathOf, walk } from "./filter-syntax.ts";

/**
 * Which events a destination receives: an expression of the Common Expression Language
 * (https://github.com/google/cel-spec), without its loops and regular expressions.
 */
export interface Filter {
  /** Takes time linear in the size of the expression and of the event. Never throws. */
  match(event: FilteredEvent): FilterResult;
  /** Why the event does not match; null if it does. */
  explain(event: FilteredEvent): FilterExplanation | null;
  /** Whether it compares `event.provider` with this one. */
  names(provider: Event["provider"]): boolean;
}

/**
 * The filter of a destination for events of a provider; null for all. What is sent to a service can come back as an
 * event, so a destination receives no events of its own service unless its filter names their provider.
 */
export function filterFor(
  filter: Filter | null,
  provider: Event["provider"],
  isOwnService: boolean,
): Filter | null {
  if (!isOwnService || filter?.names(provider) === true) return filter;
  return notFrom.getOrInsertComputed(provider, () =>
    compileFilter(`event.provider != ${JSON.stringify(provider)}`),
  );
}

/** By provider: compiling takes longer than storing an event. */
const notFrom = new Map<Event["provider"], Filter>();

/** An event with the severity of the notification that is to be delivered. */
export type FilteredEvent = Pick<
  Event,
  "provider" | "type" | "subject" | "title" | "actor" | "data"
> & { readonly severity: Severity };

/** `error`: the expression cannot be evaluated for this event, so the event is delivered. */
type FilterResult = { readonly matches: boolean } | { readonly error: string };

export const filterExplanationSchema = resource(
  "FilterExplanation",
  "Why a filter does not match.",
  {
    clause: text("The part that decided.", 'event.severity == "error"'),
    values: mapOf(scalar, "The values that this part read, by path."),
  },
);

export interface FilterExplanation extends Static<typeof filterExplanationSchema> {}

type Value = Static<typeof scalar>;

/** Where an expression is wrong. */
export class FilterError extends Error {
  override readonly name = "FilterError";

  constructor(
    /** What is wrong and what to write instead. */
    readonly detail: string,
    /** From 1. */
    readonly line: number,
    /** From 1, in UTF-16 code units. */
    readonly column: number,
  ) {
    super(`line ${line}, column ${column}: ${detail}`);
  }
}

/** Fields of `event` that an expression may read. Values in `data` differ by event type. */
const fields = {
  provider: "string",
  type: "string",
  subject: "dyn",
  title: "string",
  actor: "dyn",
  severity: "string",
  data: "map<string, dyn>",
} as const;

/**
 * Functions that an expression may call. Left out: `matches`, whose regular expressions can take exponential
 * time, and `map`, `filter`, `all` and `exists`, which are loops.
 */
const functions = ["has", "size", "startsWith", "endsWith", "contains", "string", "int", "double"];

interface CelModule {
  readonly Environment: typeof Environment;
  readonly EvaluationError: typeof EvaluationError;
}

// Loaded on first use: a server without filters does not need it, and every start would wait for it.
const cel = lazy(() => {
  // Guarantee: the package exports both; the types are its own.
  return require("@marcbachmann/cel-js") as CelModule;
});

const environment = lazy(() =>
  new (cel().Environment)({
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: 300,
      maxDepth: 30,
      maxListElements: 100,
      maxMapEntries: 0,
      maxCallArguments: 2,
    },
  }).registerVariable({ name: "event", schema: fields }),
);

/** Compiles an expression once. Throws a `FilterError`. */
export function compileFilter(source: string): Filter {
  if (source.length > maxFilterCharacters) {
    throw new FilterError(`Use at most ${maxFilterCharacters} characters`, 1, 1);
  }
  const root = checkedSyntax(source);
  const evaluate = environment().parse(source);

  function match(event: FilteredEvent): FilterResult {
    try {
      const result: unknown = evaluate(contextOf(event));
      if (typeof result === "boolean") return { matches: result };
      return result === null ? { matches: false } : { error: "The result is not true or false" };
    } catch (error) {
      // As in SQL, a comparison with a missing value is not true.
      return comparesMissing(error, event) ? { matches: false } : { error: firstLine(error) };
    }
  }

  // Compiled once, because a long filter has many.
  const clauses = lazy(() =>
    conjuncts(root).map((node) => ({
      node,
      filter: node === root ? null : compileFilter(source.slice(node.start, node.end)),
    })),
  );

  return {
    match,
    names(provider) {
      let isNamed = false;
      walk(root, (node) => {
        if (!operands(node).some((each) => pathOf(each)?.join(".") === "event.provider")) return;
        walk(node, ({ op, args }) => (isNamed ||= op === "value" && args === provider));
      });
      return isNamed;
    },
    explain(event) {
      const result = match(event);
      if ("error" in result || result.matches) return null;
      const deciding = clauses().find(({ filter }) => {
        const part = filter?.match(event) ?? result;
        return !("error" in part) && !part.matches;
      });
      const clause = deciding?.node ?? root;
      return { clause: source.slice(clause.start, clause.end), values: valuesIn(clause, event) };
    },
  };
}

/** Parses and checks an expression. Throws a `FilterError`. */
function checkedSyntax(source: string): ASTNode {
  const check = environment().check(source);
  if (!check.valid) {
    const { error } = check;
    throw filterError(source, error?.range?.start ?? 0, firstLine(error));
  }
  const root = environment().parse(source).ast;
  walk(root, (node) => {
    const called = calledBy(node);
    if (called !== null && !functions.includes(called)) {
      const known = functions.join(", ");
      throw filterError(source, node.start, `${called}() is not available here. Use ${known}.`);
    }
  });
  // The types of values in `data` are known only at evaluation.
  if (check.type !== "bool" && check.type !== "dyn") {
    const detail = `The result is ${check.type ?? "unknown"}. Write a comparison, such as event.severity == "error".`;
    throw filterError(source, 0, detail);
  }
  return root;
}

function filterError(source: string, position: number, message: string): FilterError {
  const before = source.slice(0, position).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return new FilterError(`${message}${hintFor(message)}`, before.length, column);
}

/** Names the nearest known name. */
function hintFor(message: string): string {
  if (message === "Unexpected character: =") return ". Use == for equality.";
  const variable = /^Unknown variable: (\w+)/.exec(message)?.[1];
  if (variable !== undefined) {
    const isField = Object.keys(fields).includes(variable);
    return isField ? `. Write event.${variable}.` : ". Expressions read event, such as event.type.";
  }
  // `type` alone is a function of the language.
  if (message.startsWith("no such overload: type ")) return ". Write event.type.";
  const field = /^No such key: (\w+)/.exec(message)?.[1];
  if (field === undefined) return "";
  const near = nearest(field, Object.keys(fields));
  const names = Object.keys(fields).map((name) => `event.${name}`);
  return near === null
    ? `. An event has ${names.join(", ")}.`
    : `. Did you mean event.${near}? Fields of one event type are in event.data.`;
}

function firstLine(error: unknown): string {
  const message = errorMessage(error);
  return message.split("\n", 1)[0] ?? message;
}

/** The variables of the expression. A map has no inherited keys, so `event.data.constructor` is missing. */
function contextOf({ data, ...event }: FilteredEvent) {
  return { event: { ...event, data: new Map(Object.entries(data)) } };
}

/** Whether an evaluation failed because the event has no value at a path. */
function comparesMissing(error: unknown, event: FilteredEvent): boolean {
  if (!(error instanceof cel().EvaluationError) || error.node?.op === undefined) return false;
  // Guarantee: a location with an operator is a node of the parsed expression.
  return Object.values(valuesIn(error.node as ASTNode, event)).includes(null);
}

/** The parts of an expression of which the first that is false decides: the operands of `&&`, or the whole. */
function conjuncts(node: ASTNode): readonly ASTNode[] {
  return node.op === "&&" ? operands(node).flatMap(conjuncts) : [node];
}

/** The values at the paths in a part of an expression. */
function valuesIn(clause: ASTNode, event: FilteredEvent): Record<string, Value> {
  const values: Record<string, Value> = {};
  walk(clause, (node) => {
    const [variable, field, name] = pathOf(node) ?? [];
    if (variable !== "event" || field === undefined) return;
    if (field !== "data") values[`event.${field}`] = fieldOf(event, field);
    else if (name !== undefined) values[`event.data.${name}`] = dataOf(event, name);
  });
  return values;
}

function fieldOf(event: FilteredEvent, field: string): Value {
  const { provider, type, subject, title, actor, severity } = event;
  const values = { provider, type, subject, title, actor, severity };
  return Object.entries(values).find(([name]) => name === field)?.[1] ?? null;
}

function dataOf({ data }: FilteredEvent, name: string): Value {
  return Object.hasOwn(data, name) ? (data[name] ?? null) : null;
}
