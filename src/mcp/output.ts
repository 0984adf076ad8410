import { type TObject, type TSchema, Type } from "@sinclair/typebox";

type Members = Readonly<Record<string, TSchema>>;

export const text = Type.String();
export const integer = Type.Integer();
export const flag = Type.Boolean();
/** An object whose members the API's document has. */
export const anyObject = Type.Unsafe<object>({ type: "object" });
export const untrusted = { untrusted: anyObject };

/** An object in an answer. Any member can be absent, because answers leave out nulls. */
export function shape(members: Members): TObject {
  const hasArray = Object.values(members).some((each) => each["type"] === "array");
  const all = Object.entries({ ...members, ...(hasArray && { omitted: anyObject }) });
  return Type.Object(Object.fromEntries(all.map(([name, each]) => [name, Type.Optional(each)])));
}

/** A page, as `listAnswer` returns it. */
export function pageOf(item: Members): TObject {
  return shape({ items: Type.Array(shape(item)), nextCursor: text });
}

/**
 * The members of a resource, all but some, with their types only: a list of tools is part of each conversation, and
 * their meaning is in the API's document.
 */
export function membersOf(
  resource: { readonly properties: object },
  ...except: readonly string[]
): Members {
  const shown = Object.entries<Described>({ ...resource.properties }).filter(
    ([name]) => !except.includes(name),
  );
  return Object.fromEntries(shown.map(([name, schema]) => [name, Type.Unsafe(typeOf(schema))]));
}

interface Described {
  readonly type?: unknown;
  readonly anyOf?: readonly Described[];
}

function typeOf({ type, anyOf = [] }: Described): { readonly type?: unknown } {
  const found = type ?? anyOf.find((each) => each.type !== "null")?.type;
  return found === undefined ? {} : { type: found };
}
