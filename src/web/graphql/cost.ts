import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
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

import { type Fragments, fragmentsOf } from "./limits.ts";

type Variables = Readonly<Record<string, unknown>>;
/** The number of fields in the response, given the variables. */
export type Cost = (variables: Variables) => number;

/** Assumed length of a list without arguments, as a booking's passengers. */
const usualItems = 5;

/**
 * How many fields the response to a valid operation has if every page is full. Linear in the document:
 * each fragment is counted once, however often it is spread. The result is reused for all requests
 * unless a page size is a variable.
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
    const cost = root ? counter.ofSet(operation.selectionSet, root, false) : 0;
    if (!counter.readVariables) always = cost;
    return cost;
  };
}

class Counter {
  /** Whether the cost depends on variables. */
  readVariables = false;
  readonly #known = new Map<string, number>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: Fragments,
    private readonly variables: Variables,
  ) {}

  ofSet({ selections }: SelectionSetNode, type: GraphQLCompositeType, sized: boolean): number {
    let total = 0;
    for (const selection of selections) total = plus(total, this.#of(selection, type, sized));
    return total;
  }

  #of(selection: SelectionNode, type: GraphQLCompositeType, sized: boolean): number {
    switch (selection.kind) {
      case Kind.FIELD:
        return this.#ofField(selection, type, sized);
      case Kind.FRAGMENT_SPREAD:
        return this.#ofFragment(selection.name.value, sized);
      case Kind.INLINE_FRAGMENT: {
        const condition = this.schema.getType(selection.typeCondition?.name.value ?? type.name);
        return isCompositeType(condition)
          ? this.ofSet(selection.selectionSet, condition, sized)
          : 0;
      }
    }
  }

  #ofFragment(name: string, sized: boolean): number {
    const key = `${name} ${sized}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const definition = this.fragments.get(name);
    const type = this.schema.getType(definition?.typeCondition.name.value ?? "");
    // Ends the recursion if a fragment spreads itself.
    this.#known.set(key, 0);
    const cost =
      definition !== undefined && isCompositeType(type)
        ? this.ofSet(definition.selectionSet, type, sized)
        : 0;
    this.#known.set(key, cost);
    return cost;
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType, parentIsSized: boolean): number {
    const field = fieldOf(parent, node.name.value);
    if (field === undefined || node.selectionSet === undefined) return 1;
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return 1;
    const size = this.#sizeOf(field, node.arguments ?? []);
    const below = this.ofSet(node.selectionSet, type, size !== null);
    // The page size counts at the connection, not again at its list of items.
    const isList = isListType(getNullableType(field.type)) && !parentIsSized;
    return plus(1, (size ?? (isList ? usualItems : 1)) * below);
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
