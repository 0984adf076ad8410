import { BuildCache } from "@pothos/core";
import {
  assertObjectType,
  defaultFieldResolver,
  type GraphQLObjectType,
  GraphQLSchema,
} from "graphql";

import { nextTurn } from "../../base/own-turn.ts";

import type { Builder } from "./builder.ts";
import type { GraphqlContext } from "./context.ts";

/** Each kind refers to the ones before it. */
const kinds = [
  ["Scalar", "Enum"],
  ["InputObject"],
  ["Interface"],
  ["Object"],
  ["Union"],
  ["Query", "Mutation", "Subscription"],
];

/** Builds the schema as `toSchema` of Pothos does, but the fields of each type in a turn of their own. */
export async function buildInTurns(builder: Builder): Promise<GraphQLSchema> {
  const cache = new BuildCache(builder, {});
  cache.plugin.beforeBuild();
  builder.configStore.prepareForBuild();
  for (const kind of kinds) {
    for (const config of builder.configStore.typeConfigs.values()) {
      if (kind.includes(config.kind)) cache.buildTypeFromConfig(config);
    }
  }
  // What takes time is to make the fields, which a type does on its first use.
  for (const type of cache.types.values()) {
    await nextTurn();
    if ("getFields" in type) type.getFields();
  }
  const root = (name: string) => assertObjectType(cache.types.get(name));
  const schema = new GraphQLSchema({
    query: root("Query"),
    mutation: root("Mutation"),
    subscription: root("Subscription"),
    types: [...cache.types.values()],
  });
  return cache.plugin.afterBuild(schema);
}

/**
 * Resolves each field of a query in a turn of its own: in one, 15 full pages would block all other requests. Counts each
 * mutation, of which a request may have several.
 */
export function rootFieldsInTurns(schema: GraphQLSchema): GraphQLSchema {
  before(schema.getQueryType(), ({ admit }) => admit(0));
  before(schema.getMutationType(), ({ countWrite, signedIn }) => countWrite(signedIn()));
  return schema;
}

function before(
  type: GraphQLObjectType | null | undefined,
  admit: (context: GraphqlContext) => unknown,
) {
  for (const field of Object.values(type?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = async (root, args, context: GraphqlContext, info): Promise<unknown> => {
      await admit(context);
      return resolve(root, args, context, info);
    };
  }
}
