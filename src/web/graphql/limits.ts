import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  visit,
} from "graphql";

/** Limits of one request, so that none costs many times as much as another. */
export const limits = {
  /** Levels of fields, leaves included. A rule of graphql-js limits introspection. */
  depth: 10,
  /** Aliases, counted again for each spread of a fragment. */
  aliases: 15,
  /** Lexical tokens. This also limits the nesting of values. */
  tokens: 2_000,
  directives: 20,
  /**
   * Fields with a selection set and the same response name, in the whole document. Validation compares
   * each of them with every other.
   */
  repeats: 50,
  /** Spreads of fragments, in the whole document. Validation compares each with every other of its selection set. */
  spreads: 200,
  /** Fields in the response if every page is full; see `cost.ts`. */
  complexity: 10_000,
  maxBodyBytes: 100 * 1024,
} as const;

export function overLimit(limit: keyof typeof limits, found: string): GraphQLError {
  const message = `The query has ${found}. The limit is ${limits[limit]}. Split it into smaller queries.`;
  return new GraphQLError(message, {
    extensions: { code: "LIMIT_EXCEEDED", status: 400, limit, max: limits[limit] },
  });
}

/** An error for each limit that the document exceeds. Runs in linear time. */
export function limitErrors(document: DocumentNode): GraphQLError[] {
  const measured = { ...measureExpanded(document), ...written(document) };
  const errors: GraphQLError[] = [];
  for (const limit of ["depth", "aliases", "directives", "repeats", "spreads"] as const) {
    if (measured[limit] > limits[limit]) errors.push(overLimit(limit, excesses[limit]));
  }
  return errors;
}

const excesses = {
  depth: "too many levels of fields",
  aliases: "too many aliases",
  directives: "too many directives",
  repeats: "the same field too often",
  spreads: "too many spreads of fragments",
} as const;

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** A document's fragments by name. */
export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  return fragments;
}

interface Measure {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
}
const nothing: Measure = { depth: 0, aliases: 0, fields: 0 };

/**
 * The depth, aliases and fields of the largest operation, with its fragments expanded. Runs in linear time.
 */
export function measureExpanded(document: DocumentNode): Measure {
  const fragments = fragmentsOf(document);
  // Each fragment is measured once, however often it is spread. One that spreads itself counts 0
  // there: validation rejects it.
  const known = new Map<string, Measure>();
  const ofFragment = (name: string): Measure => {
    const found = known.get(name);
    if (found !== undefined) return found;
    known.set(name, nothing);
    const set = fragments.get(name)?.selectionSet;
    const measured = set === undefined ? nothing : ofSet(set);
    known.set(name, measured);
    return measured;
  };
  const ofSet = ({ selections }: SelectionSetNode): Measure => {
    let { depth, aliases, fields } = nothing;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const below = selection.selectionSet ? ofSet(selection.selectionSet) : nothing;
        // With aliases, one query could select the whole schema a hundred times.
        aliases += below.aliases + (selection.alias === undefined ? 0 : 1);
        fields += below.fields + 1;
        if (!selection.name.value.startsWith("__")) depth = Math.max(depth, 1 + below.depth);
      } else {
        const below =
          selection.kind === Kind.FRAGMENT_SPREAD
            ? ofFragment(selection.name.value)
            : ofSet(selection.selectionSet);
        depth = Math.max(depth, below.depth);
        aliases += below.aliases;
        fields += below.fields;
      }
    }
    return { depth, aliases, fields };
  };
  let { depth, aliases, fields } = nothing;
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const measured = ofSet(definition.selectionSet);
    depth = Math.max(depth, measured.depth);
    aliases = Math.max(aliases, measured.aliases);
    fields = Math.max(fields, measured.fields);
  }
  return { depth, aliases, fields };
}

/** The directives, repeats and spreads of the document, without expanding its fragments. */
function written(document: DocumentNode) {
  let directives = 0;
  let spreads = 0;
  const uses = new Map<string, number>();
  visit(document, {
    Directive: () => void (directives += 1),
    FragmentSpread: () => void (spreads += 1),
    Field({ alias, name, selectionSet }) {
      const key = (alias ?? name).value;
      if (selectionSet !== undefined) uses.set(key, (uses.get(key) ?? 0) + 1);
    },
  });
  return { directives, spreads, repeats: Math.max(0, ...uses.values()) };
}
