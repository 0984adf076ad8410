import { expect, test } from "bun:test";

import { nextTurn } from "../src/base/own-turn.ts";
import { createSchema } from "../src/graphql-schema.ts";
import { openApiDocument } from "../src/web/rest/openapi.ts";

import { appForAll } from "./support/running-app.ts";

const app = appForAll();

test.each([
  ["the GraphQL schema", () => createSchema(app.services)],
  ["the OpenAPI document", () => openApiDocument(app.app, [], {})],
] as const)("%s is made in many turns, in which other requests are served", async (_, make) => {
  let isMade = false;
  const made = make().finally(() => {
    isMade = true;
  });
  let turns = 0;
  while (!isMade) {
    await nextTurn();
    turns += 1;
  }
  await made;
  // About one for each type of the schema and for each route.
  expect(turns).toBeGreaterThan(40);
});
