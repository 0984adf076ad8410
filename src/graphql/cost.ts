import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  getNullableType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from "graphql";

import { defaultLimit, maxLimit } from "../pagination/page.ts";

type Variables = Readonly<Record<string, unknown>>;
/** Fields of the answer that an operation asks for. */
export type Cost = (variables: Variables) => number;

/** What a list without arguments is reckoned to hold: a booking's passengers, an event's messages. */
const usualItems = 5;

/**
 * How many fields the answer to a valid operation has if every page is full. Worked out once; only
 * sizes that come by variable are left for each request.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Cost {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  const known = new Map<string, Cost>();

  const ofFragment = (name: string, sized: boolean): Cost => {
    const definition = fragments.get(name);
    const type = schema.getType(definition?.typeCondition.name.value ?? "");
    if (definition === undefined || !isCompositeType(type)) return free;
    const key = `${name} ${sized}`;
    let cost = known.get(key);
    if (cost === undefined) {
      cost = ofSet(definition.selectionSet, type, sized);
      known.set(key, cost);
    }
    return cost;
  };

  const ofSet = (set: SelectionSetNode, type: GraphQLCompositeType, sized: boolean): Cost =>
    sum(
      set.selections.map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value, sized);
        if (selection.kind === Kind.FIELD) return ofField(selection, type, sized);
        const condition = schema.getType(selection.typeCondition?.name.value ?? type.name);
        return isCompositeType(condition) ? ofSet(selection.selectionSet, condition, sized) : free;
      }),
    );

  const ofField = (node: FieldNode, parent: GraphQLCompositeType, parentIsSized: boolean): Cost => {
    const field = fieldOf(parent, node.name.value);
    if (field === undefined || node.selectionSet === undefined) return one;
    const size = sizeOf(field, node.arguments ?? []);
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return one;
    const below = ofSet(node.selectionSet, type, size !== null);
    // The page's size counts once, where it is asked for, not again at its list of items.
    const isList = isListType(getNullableType(field.type)) && !parentIsSized;
    const items = size ?? (isList ? () => usualItems : one);
    return sum([one, (variables) => items(variables) * below(variables)]);
  };

  const root = schema.getRootType(operation.operation);
  const cost = root ? ofSet(operation.selectionSet, root, false) : free;
  const defaults = defaultsOf(operation);
  return (variables) => cost({ ...defaults, ...variables });
}

/** What variables are where a request leaves them out. */
function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
}

const free: Cost = () => 0;
const one: Cost = () => 1;

function sum(costs: readonly Cost[]): Cost {
  return (variables) => costs.reduce((total, cost) => total + cost(variables), 0);
}

type Field = GraphQLField<unknown, unknown>;

function fieldOf(type: GraphQLCompositeType, name: string): Field | undefined {
  return "getFields" in type ? type.getFields()[name] : undefined;
}

/** How many items a field that takes a size is asked for; null for one that takes none. */
function sizeOf(field: Field, given: readonly ArgumentNode[]): Cost | null {
  const names = field.args.map(({ name }) => name);
  const sizes = ["first", "last", "limit", "ids"].filter((name) => names.includes(name));
  if (sizes.length === 0) return null;
  const readers = sizes.flatMap((size) => {
    const argument = given.find(({ name }) => name.value === size);
    return argument === undefined ? [] : [reader(argument)];
  });
  return (variables) => {
    const asked = readers.map((read) => read(variables)).filter((size) => size !== null);
    return asked.length === 0 ? defaultLimit : Math.max(...asked);
  };
}

/** A number as it is, a list as its length; null for what was left out after all. */
function reader({ value }: ArgumentNode): (variables: Variables) => number | null {
  switch (value.kind) {
    case Kind.VARIABLE:
      return (variables) => bounded(variables[value.name.value]);
    case Kind.INT: {
      const size = bounded(Number(value.value));
      return () => size;
    }
    case Kind.LIST: {
      const size = value.values.length;
      return () => size;
    }
    default:
      return () => null;
  }
}

function bounded(size: unknown): number | null {
  if (Array.isArray(size)) return size.length;
  return typeof size === "number" ? Math.min(Math.max(size, 0), maxLimit) : null;
}
