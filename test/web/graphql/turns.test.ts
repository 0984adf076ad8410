import { expect, test } from "bun:test";

import { buildSchema, execute, parse } from "graphql";

import { systemClock } from "../../../src/base/clock.ts";
import { workLimiter } from "../../../src/identity/limiter.ts";
import { rootFieldsInTurns } from "../../../src/web/graphql/build-in-turns.ts";
import { turns } from "../../support/turns.ts";

const limiter = workLimiter(systemClock);
const admit = (fields: number) => limiter.begin(null, fields);

test("work begins in turns of the event loop of its own, for each client", async () => {
  using turn = turns();
  const work = Array.from({ length: 20 }, async (_, n) => {
    await limiter.begin(n % 2 === 0 ? null : `192.0.2.${n}`, n < 10 ? 0 : 200);
    return turn.now();
  });
  expect(new Set(await Promise.all(work)).size).toBe(20);
});

test("each root field of a query is resolved in a turn of its own, also of several queries", async () => {
  using turn = turns();
  const schema = rootFieldsInTurns(buildSchema("type Query { page: Int! }"));
  const fields = Array.from({ length: 15 }, (_, n) => `a${n}: page`).join(" ");
  const document = parse(`{ ${fields} }`);
  const rootValue = { page: () => turn.now() };
  const queries = Array.from({ length: 3 }, async () =>
    execute({ schema, document, rootValue, contextValue: { admit } }),
  );
  const seen = (await Promise.all(queries)).flatMap(({ data }) => Object.values(data ?? {}));
  expect(seen).toHaveLength(45);
  expect(new Set(seen).size).toBe(45);
});
