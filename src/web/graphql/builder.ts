import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import { type GraphQLSchema, isObjectType } from "graphql";

import { invalidParameter } from "../rest/query.ts";

import type { GraphqlContext } from "./context.ts";

/** Settings of the builder, and the TypeScript type of each scalar. */
interface Types {
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  Context: GraphqlContext;
  Connection: { readonly total: () => Promise<number> };
  Scalars: {
    ID: { Input: string; Output: string | number };
    DateTime: { Input: never; Output: Date };
    Date: { Input: string; Output: string };
    EmailAddress: { Input: string; Output: string };
    Money: { Input: never; Output: number };
    JSONObject: {
      Input: never;
      Output: Readonly<Record<string, string | number | boolean | null>>;
    };
  };
}

/** What a feature adds its types and fields to. */
export type Builder = ReturnType<typeof createBuilder>;

const maxNodes = 100;

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
      nodesOnConnection: { description: "The items of this page, without their cursors." },
      edgesFieldOptions: {
        description: "The items of this page with their cursors.",
        nullable: false,
      },
      pageInfoFieldOptions: { description: "Where this page stands in its list." },
      nodeFieldOptions: { description: "The item.", nullable: false },
      cursorFieldOptions: {
        description:
          "The item's place in the list, for `after` or `before`, and for REST's `cursor`.",
      },
      nodeTypeOptions: { description: "Anything that `node` finds by its global id." },
      idFieldOptions: { description: "Global id: opaque, the same for good, for `node`." },
      pageInfoTypeOptions: { description: "Where a page stands in its list." },
      hasNextPageFieldOptions: {
        ...mayBePromise,
        description: "Whether there are items after this page.",
      },
      hasPreviousPageFieldOptions: {
        ...mayBePromise,
        description: "Whether there are items before this page.",
      },
      startCursorFieldOptions: { description: "The first item's cursor; null on an empty page." },
      endCursorFieldOptions: { description: "The last item's cursor; null on an empty page." },
      firstArgOptions: {
        description:
          "How many items from the front, 0 or more; more than 100 counts as 100. 20 if left out.",
      },
      afterArgOptions: { description: "Items after this cursor only. Goes with `first`." },
      lastArgOptions: {
        description: "How many items from the end, 0 or more; more than 100 counts as 100.",
      },
      beforeArgOptions: { description: "Items before this cursor only. Goes with `last`." },
      nodeQueryOptions: {
        description: "The thing of a global id; null where there is none that you may see.",
        args: { id: { description: "A global id, as a field `id` returned it." } },
        resolve(_, { id }, _ctx, { schema }, resolveNode) {
          requireNodeType(schema, id.typename);
          return resolveNode(id);
        },
      },
      nodesQueryOptions: {
        description: "The things of many global ids, in the same order; null for each not found.",
        args: { ids: { description: `Up to ${maxNodes} global ids.` } },
        resolve(_, { ids }, _ctx, { schema }, resolveNodes) {
          if (ids.length > maxNodes) throw invalidParameter("ids", `At most ${maxNodes} ids`);
          for (const { typename } of ids) requireNodeType(schema, typename);
          return resolveNodes(ids);
        },
      },
    },
  });
  builder.globalConnectionField("totalCount", (t) =>
    t.int({
      description: "How many items the whole list has. Counted only when asked for.",
      resolve: (connection) => connection.total(),
    }),
  );
  builder.queryType({ description: "What can be read." });
  builder.mutationType({ description: "What can be changed." });
  builder.subscriptionType({ description: "What can be followed, as server-sent events." });
  return builder;
}

/** Throws `invalid-parameter` for anything that `encodeGlobalID` cannot have returned. */
function decodeGlobalID(globalId: string): { typename: string; id: string } {
  const bytes = Buffer.from(globalId, "base64");
  const [, typename, id] = /^(\w+):(.+)$/.exec(bytes.toString()) ?? [];
  if (typename === undefined || id === undefined || bytes.toString("base64") !== globalId) {
    throw notGlobalId();
  }
  return { typename, id };
}

/** Throws `invalid-parameter` unless the type implements `Node`. */
function requireNodeType(schema: GraphQLSchema, typename: string): void {
  const type = schema.getType(typename);
  if (isObjectType(type) && type.getInterfaces().some(({ name }) => name === "Node")) return;
  throw notGlobalId();
}

const notGlobalId = () => invalidParameter("id", "Not a global id of this service");
