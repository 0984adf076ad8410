import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isObjectType,
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

class Counter {
  /** Whether the cost depends on variables. */
  readVariables = false;
  readonly #known = new Map<string, number>();
  readonly #introspected = new Map<SelectionSetNode, Map<unknown, number>>();
  #steps = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: Fragments,
    private readonly variables: Variables,
  ) {}

  /** `size`: the page size of the field that the set is of; null without one. */
  ofSet({ selections }: SelectionSetNode, type: GraphQLCompositeType, size: number | null): number {
    let total = 0;
    for (const selection of selections) total = plus(total, this.#of(selection, type, size));
    return total;
  }

  #of(selection: SelectionNode, type: GraphQLCompositeType, size: number | null): number {
    switch (selection.kind) {
      case Kind.FIELD:
        return this.#ofField(selection, type, size);
      case Kind.FRAGMENT_SPREAD:
        return this.#ofFragment(selection.name.value, size);
      case Kind.INLINE_FRAGMENT: {
        const condition = this.schema.getType(selection.typeCondition?.name.value ?? type.name);
        return isCompositeType(condition) ? this.ofSet(selection.selectionSet, condition, size) : 0;
      }
    }
  }

  #ofFragment(name: string, size: number | null): number {
    const key = `${name} ${size}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const definition = this.fragments.get(name);
    const type = this.schema.getType(definition?.typeCondition.name.value ?? "");
    // Ends the recursion if a fragment spreads itself.
    this.#known.set(key, 0);
    const cost =
      definition !== undefined && isCompositeType(type)
        ? this.ofSet(definition.selectionSet, type, size)
        : 0;
    this.#known.set(key, cost);
    return cost;
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType, parentSize: number | null): number {
    const field = fieldOf(parent, node.name.value);
    if (field === undefined || node.selectionSet === undefined) return 1;
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return 1;
    if (metaFields.has(node.name.value)) return plus(1, this.#ofMetaField(node, field, null));
    const size = this.#sizeOf(field, node.arguments ?? []);
    if (!isListType(getNullableType(field.type))) {
      return plus(1, this.ofSet(node.selectionSet, type, size));
    }
    // A page has as many items as its connection was asked for.
    const { maxItems } = field.extensions;
    const usual = typeof maxItems === "number" ? maxItems : usualItems;
    return plus(1, (size ?? parentSize ?? usual) * this.ofSet(node.selectionSet, type, null));
  }

  /** The fields below a field of the introspection of `part`: the schema, a type, a field or an argument. */
  #ofMetaField(node: FieldNode, { type, resolve }: Field, part: unknown): number {
    const [below, set] = [getNamedType(type), node.selectionSet];
    if (set === undefined || !isObjectType(below)) return 0;
    const name = node.arguments?.find((argument) => argument.name.value === "name")?.value;
    if (name?.kind === Kind.VARIABLE) this.readVariables = true;
    const args = {
      name: name && valueFromASTUntyped(name, this.variables),
      includeDeprecated: true,
    };
    // Guarantee: the resolvers of the introspection read nothing else.
    const info = { schema: this.schema } as GraphQLResolveInfo;
    const found: unknown = resolve?.(part, args, undefined, info);
    let total = 0;
    for (const item of Array.isArray(found) ? found : [found ?? null]) {
      if (item !== null) total = plus(total, this.#ofMeta(set, below, item));
    }
    return total;
  }

  #ofMeta(set: SelectionSetNode, type: GraphQLObjectType, part: unknown): number {
    const known = this.#introspected.get(set) ?? new Map<unknown, number>();
    const before = known.get(part);
    // There are at least as many fields as steps: what exceeds the limit is not counted to its end.
    if (before !== undefined || this.#steps > limits.complexity) return before ?? 1;
    this.#steps += 1;
    // Ends the recursion if a fragment spreads itself.
    this.#introspected.set(set, known.set(part, 0));
    let total = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const field = fieldOf(type, selection.name.value);
        total = plus(total, 1 + (field ? this.#ofMetaField(selection, field, part) : 0));
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inner = isSpread ? this.fragments.get(selection.name.value) : selection;
      if (inner) total = plus(total, this.#ofMeta(inner.selectionSet, type, part));
    }
    known.set(part, total);
    return total;
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
