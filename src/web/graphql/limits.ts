import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  visit,
} from "graphql";

/** What one request may ask for, so that none costs many times what another does. */
export const limits = {
  /** Levels of fields, leaves included. Introspection is bounded by a rule of its own. */
  depth: 10,
  /** Renamed fields, fragments written out. */
  aliases: 15,
  /** Lexical tokens; also bounds how deep values are nested. */
  tokens: 2_000,
  directives: 20,
  /**
   * Fields of one name in the answer that have fields below them, in the whole document. GraphQL's own
   * rules compare each of them with each other.
   */
  repeats: 50,
  /** Fields of the answer, if every page is full; see `cost.ts`. */
  complexity: 10_000,
  /** Of a request's body, and of its query string. */
  maxBodyBytes: 100 * 1024,
} as const;

export function overLimit(limit: keyof typeof limits, found: string): GraphQLError {
  const message = `The query has ${found}; ${limits[limit]} is the limit. Split it into smaller ones`;
  return new GraphQLError(message, {
    extensions: { code: "LIMIT_EXCEEDED", status: 400, limit, max: limits[limit] },
  });
}

/** The limits that a document breaks. Takes linear time: to be asked before GraphQL's own rules. */
export function limitFaults(document: DocumentNode): GraphQLError[] {
  const measured = { ...expanded(document), ...written(document) };
  const faults: GraphQLError[] = [];
  for (const limit of ["depth", "aliases", "directives", "repeats"] as const) {
    if (measured[limit] > limits[limit]) faults.push(overLimit(limit, words[limit]));
  }
  return faults;
}

const words = {
  depth: "too many levels of fields",
  aliases: "too many aliases",
  directives: "too many directives",
  repeats: "the same field too often",
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
}
const nothing: Measure = { depth: 0, aliases: 0 };

/** What the largest operation has with its fragments written out. */
function expanded(document: DocumentNode): Measure {
  const fragments = fragmentsOf(document);
  // Each fragment is measured once, however often it is spread; one that spreads itself counts
  // nothing there, since another rule refuses it.
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
    let { depth, aliases } = nothing;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const below = selection.selectionSet ? ofSet(selection.selectionSet) : nothing;
        // Renamed, the whole schema could be asked for a hundred times in one query.
        aliases += below.aliases + (selection.alias === undefined ? 0 : 1);
        if (!selection.name.value.startsWith("__")) depth = Math.max(depth, 1 + below.depth);
      } else {
        const below =
          selection.kind === Kind.FRAGMENT_SPREAD
            ? ofFragment(selection.name.value)
            : ofSet(selection.selectionSet);
        depth = Math.max(depth, below.depth);
        aliases += below.aliases;
      }
    }
    return { depth, aliases };
  };
  let { depth, aliases } = nothing;
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const measured = ofSet(definition.selectionSet);
    depth = Math.max(depth, measured.depth);
    aliases = Math.max(aliases, measured.aliases);
  }
  return { depth, aliases };
}

/** What a document has as it is written. */
function written(document: DocumentNode): { directives: number; repeats: number } {
  let directives = 0;
  const uses = new Map<string, number>();
  visit(document, {
    Directive: () => void (directives += 1),
    Field({ alias, name, selectionSet }) {
      const key = (alias ?? name).value;
      if (selectionSet !== undefined) uses.set(key, (uses.get(key) ?? 0) + 1);
    },
  });
  return { directives, repeats: Math.max(0, ...uses.values()) };
}
