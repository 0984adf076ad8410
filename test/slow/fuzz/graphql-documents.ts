import fc from "fast-check";
import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";

import { cursor } from "./cursors.ts";
import { graphqlSchema, schemaOf, valueOf } from "./definitions.ts";
import { jsonText, spoilt } from "./json.ts";
import { telling } from "./telling.ts";
import { hostileText } from "./text.ts";

/** Part of a document: its text, and the variables that it uses, as they are declared and given. */
interface Piece {
  readonly text: string;
  readonly variables: readonly {
    readonly name: string;
    readonly type: string;
    readonly json: string;
  }[];
}

const piece = (text: string, ...of: readonly Piece[]): Piece => ({
  text,
  variables: of.flatMap(({ variables }) => variables),
});
const joined = (pieces: readonly Piece[], separator: string): Piece =>
  piece(pieces.map(({ text }) => text).join(separator), ...pieces);

const maxDepth = 5;

const some = <Item>(all: readonly Item[], most: number): fc.Arbitrary<Item[]> =>
  fc.subarray([...all], { maxLength: Math.min(all.length, most) });

/** What is selected of a type: some of its fields, with arguments, aliases, fragments and directives. */
function selection(output: GraphQLOutputType, place: string, depth: number): fc.Arbitrary<Piece> {
  const type = getNamedType(output);
  if (isLeafType(type)) return fc.constant(piece(""));
  const onObjects = isInterfaceType(type) ? graphqlSchema.getPossibleTypes(type) : [];
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
  const reachable = fields.filter((field) => depth > 0 || isLeafType(getNamedType(field.type)));
  return fc
    .tuple(some(reachable, 4), some(depth > 0 ? onObjects : [], 2))
    .chain(([chosen, objects]) =>
      fc.tuple(
        ...chosen.map((field, index) => selected(field, `${place}_${index}`, depth)),
        ...objects.map((object, index) =>
          selection(object, `${place}_on${index}`, depth - 1).map((inner) =>
            piece(`... on ${object.name}${inner.text}`, inner),
          ),
        ),
      ),
    )
    .map((parts) => joined([piece("__typename"), ...parts], " "))
    .map((inner) => piece(` { ${inner.text} }`, inner));
}

type Field = GraphQLField<unknown, unknown>;

function selected(field: Field, place: string, depth: number): fc.Arbitrary<Piece> {
  return fc
    .tuple(
      argumentsOf(field.args, place),
      selection(field.type, place, depth - 1),
      fc.constantFrom("", "", "", "", " @include(if: true)", " @skip(if: false)"),
      fc.constantFrom("", "", "", `a${place}: `),
    )
    .map(([given, inner, directive, alias]) =>
      piece(`${alias}${field.name}${given.text}${directive}${inner.text}`, given, inner),
    );
}

function argumentsOf(args: readonly GraphQLArgument[], place: string): fc.Arbitrary<Piece> {
  const optional = args.filter(({ type }) => !isNonNullType(type));
  return some(optional, 3).chain((chosen) => {
    const given = args.filter((arg) => isNonNullType(arg.type) || chosen.includes(arg));
    if (given.length === 0) return fc.constant(piece(""));
    return fc
      .tuple(...given.map((arg) => argument(arg, place)))
      .map((pieces) => joined(pieces, ", "))
      .map((all) => piece(`(${all.text})`, all));
  });
}

/** One argument, written out or as a variable. */
function argument({ name, type }: GraphQLArgument, place: string): fc.Arbitrary<Piece> {
  return fc.oneof(
    literal(type, name).map((text) => piece(`${name}: ${text}`)),
    fc.oneof(valueJson(type, name), { weight: 1, arbitrary: jsonText }).map((json) => {
      const variable = `v${place}_${name}`;
      return {
        text: `${name}: $${variable}`,
        variables: [{ name: variable, type: String(type), json }],
      };
    }),
  );
}

const numbers = [0, 1, 2, 20, 100, 101, -1, 2_147_483_647, 2_147_483_648, 1.5];

function textFor(name: string): fc.Arbitrary<string> {
  const known = fc.constantFrom(...(telling[name] ?? ["a"]));
  return name === "after" || name === "before"
    ? fc.oneof(known, cursor)
    : fc.oneof(known, hostileText);
}

/** A value of an input type as JSON. */
function valueJson(type: GraphQLInputType, name: string): fc.Arbitrary<string> {
  if (isNonNullType(type)) return valueJson(type.ofType, name);
  if (isListType(type)) {
    return fc
      .array(valueJson(type.ofType, name), { maxLength: 3 })
      .map((all) => `[${all.join(",")}]`);
  }
  if (isInputObjectType(type)) return spoilt(valueOf(schemaOf(type)));
  if (isEnumType(type)) {
    return fc.constantFrom(...type.getValues().map((value) => JSON.stringify(value.name)));
  }
  if (type.name === "Int") return fc.constantFrom(...numbers).map(String);
  return textFor(name).map((text) => JSON.stringify(text));
}

const enumNames = Object.values(graphqlSchema.getTypeMap())
  .filter(isEnumType)
  .flatMap((type) => type.getValues().map(({ name }) => name));
const quotedEnum = new RegExp(`"(${enumNames.join("|")})"`, "g");

/** The same written as GraphQL writes values: names and enum values without quotes. */
function literal(type: GraphQLInputType, name: string): fc.Arbitrary<string> {
  return valueJson(type, name).map((json) =>
    json.replaceAll(/"(\w+)":/g, "$1: ").replaceAll(quotedEnum, "$1"),
  );
}

const roots = [
  graphqlSchema.getQueryType(),
  graphqlSchema.getMutationType(),
  graphqlSchema.getSubscriptionType(),
].filter((type) => type !== null && type !== undefined);

/** A document of the schema with its variables, as the text of a request's body. */
export const operation = fc
  .constantFrom(...roots, roots[0], roots[0])
  .chain((root) => {
    const type = root ?? roots[0];
    if (type === undefined) throw new Error("The schema has no root");
    const word = type.name.toLowerCase();
    return selection(type, "", maxDepth).map((body) => ({ word, body }));
  })
  .map(({ word, body: { text, variables } }) => {
    const declared = variables.map(({ name, type }) => `$${name}: ${type}`).join(", ");
    const values = variables.map(({ name, json }) => `${JSON.stringify(name)}:${json}`).join(",");
    const query = `${word}${declared === "" ? "" : ` Q(${declared})`}${text}`;
    return { query, values: `{${values}}` };
  });
