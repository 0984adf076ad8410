import { nextTurn } from "./base/own-turn.ts";
import { bookingGraphql } from "./booking/room.graphql.ts";
import { usersGraphql } from "./identity/users/users.graphql.ts";
import type { Services } from "./services.ts";
import { buildInTurns, rootFieldsInTurns } from "./web/graphql/build-in-turns.ts";
import { createBuilder } from "./web/graphql/builder.ts";
import { scalars } from "./web/graphql/scalars.ts";

/**
 * The GraphQL schema, whose resolvers call `services`. `schema.graphql` is its printed form. Made over many
 * turns of the event loop: in one, it would block all requests for 25 ms, and from source for 100.
 */
export async function createSchema(services: Services) {
  const builder = createBuilder();
  scalars(builder);
  // From now on, Pothos makes what a feature declares at once instead of all at the end.
  builder.configStore.prepareForBuild();
  const userTypes = usersGraphql(builder, services.users);
  await nextTurn();
  await bookingGraphql(builder, services, userTypes);
  await nextTurn();
  return rootFieldsInTurns(await buildInTurns(builder));
}
