import SchemaBuilder, { type ArgBuilder, type InputFieldRef } from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import { type GraphQLSchema, isObjectType } from "graphql";

import { invalidParameter } from "../../base/parameters.ts";

import type { GraphqlContext } from "./context.ts";

/** Settings of the builder, and the TypeScript type of each scalar. */
interface Types {
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  Context: GraphqlContext;
  Connection: { readonly total: () => Promise<number> };
  Scalars: {
    ID: { Input: string; Output: string | number };
    DateTime: { Input: string; Output: Date };
    Date: { Input: string; Output: string };
    EmailAddress: { Input: string; Output: string };
    Money: { Input: never; Output: number };
  };
}

/** What a feature adds its types and fields to. */
export type Builder = ReturnType<typeof createBuilder>;

/** What makes the fields of a type whose objects are a `Value`. */
export type FieldBuilder<Value> = PothosSchemaTypes.ObjectFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<Types>,
  Value
>;

/** What makes the arguments of a field. */
export type ArgumentBuilder = ArgBuilder<PothosSchemaTypes.ExtendDefaultTypes<Types>>;
export type ArgumentOf<Value> = InputFieldRef<PothosSchemaTypes.ExtendDefaultTypes<Types>, Value>;

const maxNodes = 100;
/** What `totalCount` costs, in fields of a response (see `Admit`): all rows are counted. */
const countFields = 1_000;

/**
 * For fields whose value may be a promise. Pothos leaves a field that exposes the property of its own
 * name to the default resolver, whose value graphql-jit does not await.
 */
const mayBePromise = { extensions: { pothosExposedField: null } } as const;

export function createBuilder() {
  const builder = new SchemaBuilder<Types>({
    plugins: [RelayPlugin],
    defaultFieldNullability: false,
    relay: {
      encodeGlobalID: (type, id) => Buffer.from(`${type}:${id}`).toString("base64"),
      decodeGlobalID,
      nodesOnConnection: { description: "The items of the page, without cursors." },
      edgesFieldOptions: {
        description: "The items of the page, with cursors.",
        nullable: false,
      },
      pageInfoFieldOptions: { description: "The position of the page in the list." },
      nodeFieldOptions: { description: "The item.", nullable: false },
      cursorFieldOptions: {
        description: "Cursor of the item, for `after` and `before`, and for `cursor` in REST.",
      },
      nodeTypeOptions: { description: "An object with a global id." },
      idFieldOptions: { description: "Global id for `node`: opaque and permanent." },
      pageInfoTypeOptions: { description: "The position of a page in its list." },
      hasNextPageFieldOptions: {
        ...mayBePromise,
        description: "Whether items follow the page.",
      },
      hasPreviousPageFieldOptions: {
        ...mayBePromise,
        description: "Whether items precede the page.",
      },
      startCursorFieldOptions: {
        description: "Cursor of the first item; null if the page is empty.",
      },
      endCursorFieldOptions: { description: "Cursor of the last item; null if the page is empty." },
      firstArgOptions: {
        description:
          "Number of items from the start, 0 or more. The maximum is 100, the default 20.",
      },
      afterArgOptions: { description: "Only items after this cursor. Use with `first`." },
      lastArgOptions: {
        description: "Number of items from the end, 0 or more. The maximum is 100.",
      },
      beforeArgOptions: { description: "Only items before this cursor. Use with `last`." },
      nodeQueryOptions: {
        description:
          "The object with a global id; null if it does not exist or you cannot access it.",
        args: { id: { description: "A global id from a field `id`." } },
        resolve(_, { id }, _ctx, { schema }, resolveNode) {
          if (!isNodeId(schema, id)) throw notGlobalId("id");
          return resolveNode(id);
        },
      },
      nodesQueryOptions: {
        description:
          "The objects with the given global ids, in the same order; null for each that is not found.",
        args: { ids: { description: `Up to ${maxNodes} global ids.` } },
        async resolve(_, args, _ctx, { schema }, resolveNodes) {
          const { ids } = args;
          if (ids.length > maxNodes) throw invalidParameter("ids", `At most ${maxNodes} ids`);
          const valid = ids.map((id) => (isNodeId(schema, id) ? id : null));
          // Pothos ignores the argument, resolves the ids of `args`, and leaves null where one is null.
          Object.assign(args, { ids: valid });
          const nodes = await resolveNodes(ids);
          // GraphQL turns an error in a list into null and an error with the path of that entry.
          return nodes.map((node, index) => (valid[index] ? node : notGlobalId("ids")));
        },
      },
    },
  });
  builder.globalConnectionField("totalCount", (t) =>
    t.int({
      description: "Number of items in the whole list. Counted only if selected.",
      async resolve(connection, _, { admit }) {
        await admit(countFields);
        return connection.total();
      },
    }),
  );
  builder.queryType({ description: "Read operations." });
  builder.mutationType({ description: "Write operations." });
  builder.subscriptionType({ description: "Streams, sent as server-sent events." });
  return builder;
}

interface GlobalId {
  readonly typename: string;
  readonly id: string;
}

/** No type has an empty name. */
const malformed: GlobalId = { typename: "", id: "" };

/** Returns `malformed` for anything that `encodeGlobalID` cannot have returned. */
function decodeGlobalID(globalId: string): GlobalId {
  const bytes = Buffer.from(globalId, "base64");
  const [, typename, id] = /^(\w+):(.+)$/.exec(bytes.toString()) ?? [];
  if (typename === undefined || id === undefined || bytes.toString("base64") !== globalId) {
    return malformed;
  }
  return { typename, id };
}

/** Whether the id is well-formed, of a type that implements `Node`. */
function isNodeId(schema: GraphQLSchema, { typename }: GlobalId): boolean {
  const type = schema.getType(typename);
  return isObjectType(type) && type.getInterfaces().some(({ name }) => name === "Node");
}

const notGlobalId = (parameter: "id" | "ids") =>
  invalidParameter(parameter, "Not a global id of this service");
