import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isCompositeType,
  isIntrospectionType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  valueFromASTUntyped,
  type ValueNode,
} from "graphql";

import { defaultLimit, maxLimit } from "../../base/page.ts";

import { type Fragments, fragmentsOf, limits } from "./limits.ts";

type Variables = Readonly<Record<string, unknown>>;
/** The number of fields in the response, given the variables. */
export type Cost = (variables: Variables) => number;

/** Assumed length of a list without arguments, unless the extension `maxItems` of its field says more. */
const usualItems = 5;

/**
 * How many fields the response to a valid operation has if every page is full; an introspection, exactly. Linear in the
 * document, or stops beyond the limit: each fragment is counted once, however often it is spread. The result is reused
 * for all requests unless a page size is a variable.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Cost {
  const fragments = fragmentsOf(document);
  const defaults = defaultsOf(operation);
  const root = schema.getRootType(operation.operation);
  let always: number | undefined;
  return (variables) => {
    if (always !== undefined) return always;
    const counter = new Counter(schema, fragments, { ...defaults, ...variables });
    const cost = root ? counter.ofSet(operation.selectionSet, root, null) : 0;
    if (!counter.readVariables) always = cost;
    return cost;
  };
}

/**
 * What a set of fields is selected from: within an introspection, the schema, a type, a field or an argument; else the
 * page size of its field, null without one.
 */
type Source = object | number | null;

class Counter {
  /** Whether the cost depends on variables. */
  readVariables = false;
  readonly #known = new Map<SelectionSetNode, Map<Source, number>>();
  #steps = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: Fragments,
    private readonly variables: Variables,
  ) {}

  ofSet(set: SelectionSetNode, type: GraphQLCompositeType, source: Source): number {
    const known = this.#known.get(set) ?? new Map<Source, number>();
    const before = known.get(source);
    // Each step of an introspection finds a field, so what exceeds the limit is not counted to its end.
    if (before !== undefined || this.#steps > limits.complexity) return before ?? 1;
    if (isPart(source)) this.#steps += 1;
    // Ends the recursion if a fragment spreads itself.
    this.#known.set(set, known.set(source, 0));
    let total = 0;
    for (const selection of set.selections) total = plus(total, this.#of(selection, type, source));
    known.set(source, total);
    return total;
  }

  #of(selection: SelectionNode, type: GraphQLCompositeType, source: Source): number {
    if (selection.kind === Kind.FIELD) return plus(1, this.#below(selection, type, source));
    const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
    const fragment = isSpread ? this.fragments.get(selection.name.value) : selection;
    if (fragment === undefined) return 0;
    const condition = this.schema.getType(fragment.typeCondition?.name.value ?? type.name);
    return isCompositeType(condition) ? this.ofSet(fragment.selectionSet, condition, source) : 0;
  }

  /** The fields below a field. */
  #below(node: FieldNode, parent: GraphQLCompositeType, source: Source): number {
    const field = fieldOf(parent, node.name.value);
    const type = field && getNamedType(field.type);
    const set = node.selectionSet;
    if (field === undefined || set === undefined || !isCompositeType(type)) return 0;
    if (isIntrospectionType(type)) {
      return this.#partsAt(node, field, source)
        .map((part) => this.ofSet(set, type, part))
        .reduce(plus, 0);
    }
    const size = this.#sizeOf(field, node.arguments ?? []);
    if (!isListType(getNullableType(field.type))) return this.ofSet(set, type, size);
    // A page has as many items as its connection was asked for.
    const pageSize = typeof source === "number" ? source : null;
    const { maxItems } = field.extensions;
    const usual = typeof maxItems === "number" ? maxItems : usualItems;
    return (size ?? pageSize ?? usual) * this.ofSet(set, type, null);
  }

  /** What a field of an introspection returns. */
  #partsAt(node: FieldNode, { resolve }: Field, source: Source): readonly object[] {
    const name = node.arguments?.find((argument) => argument.name.value === "name")?.value;
    if (name?.kind === Kind.VARIABLE) this.readVariables = true;
    const args = {
      name: name && valueFromASTUntyped(name, this.variables),
      includeDeprecated: true,
    };
    // Guarantee: the resolvers of the introspection read nothing else.
    const info = { schema: this.schema } as GraphQLResolveInfo;
    return [resolve?.(source, args, undefined, info)].flat().filter(isPart);
  }

  /** The page size that a field requests; null if the field has no size argument. */
  #sizeOf(field: Field, given: readonly ArgumentNode[]): number | null {
    const sizes = field.args.map(({ name }) => name).filter((name) => sizeNames.has(name));
    if (sizes.length === 0) return null;
    const requested = given
      .filter(({ name }) => sizes.includes(name.value))
      .map(({ value }) => this.#size(value))
      .filter((size) => size !== null);
    return requested.length === 0 ? defaultLimit : Math.max(...requested);
  }

  /** The number, or the length of the list; null if neither. */
  #size(value: ValueNode): number | null {
    switch (value.kind) {
      case Kind.VARIABLE:
        this.readVariables = true;
        return bounded(this.variables[value.name.value]);
      case Kind.INT:
        return bounded(Number(value.value));
      case Kind.LIST:
        return value.values.length;
      default:
        return null;
    }
  }
}

const sizeNames: ReadonlySet<string> = new Set(["first", "last", "limit", "ids"]);

function isPart(source: unknown): source is object {
  return typeof source === "object" && source !== null;
}

/** Nested fragments can double the sum many times: it is capped to stay an exact integer. */
function plus(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** The default values of the variables. */
function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
}

type Field = GraphQLField<unknown, unknown>;

/** The fields that start an introspection. No type lists them. */
const metaFields: ReadonlyMap<string, Field> = new Map(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]),
);

function fieldOf(type: GraphQLCompositeType, name: string): Field | undefined {
  return ("getFields" in type ? type.getFields()[name] : undefined) ?? metaFields.get(name);
}

function bounded(size: unknown): number | null {
  if (Array.isArray(size)) return size.length;
  return typeof size === "number" ? Math.min(Math.max(size, 0), maxLimit) : null;
}
