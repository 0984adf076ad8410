import { beforeEach, describe, expect, test } from "bun:test";

import { runsBeforeCompiling } from "../../../src/web/graphql/compiled.ts";
import { json } from "../../support/app.ts";
import { defaultDialect } from "../../support/databases.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { dataOf, listAt } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";
import { watchReads } from "../../support/watched-reads.ts";

describe("database statements", () => {
  let statements = 0;
  const app = appPerTest();
  beforeEach(() => void watchReads(app.services.storage, () => (statements += 1)));

  const countOf = async (query: string, variables = {}) => {
    // The first request of an app also reads who was erased.
    await app.as("admin", "/v1/users?limit=1");
    // Both interpreted and compiled: compiled queries resolve fields in another order.
    const counts = new Set<number>();
    let data: Record<string, unknown> = {};
    for (let run = 0; run < runsBeforeCompiling + 2; run += 1) {
      statements = 0;
      data = await dataOf(app, "admin", query, variables);
      counts.add(statements);
    }
    expect(counts.size).toBe(1);
    return { data, statements };
  };
  const addBookings = async (count: number): Promise<string[]> => {
    const users = [];
    for (const name of ["ada", "bob", "eve"]) {
      const made = await app.as("user", "/v1/users", post({ name, email: `${name}@example.com` }));
      users.push(String((await json(made))["id"]));
    }
    const ids = [];
    for (let number = 0; number < count; number += 1) {
      const { id } = await addFlight(app, { flightNumber: `SK${number % 10}`, seats: 50 });
      const request = post(bookingBody(id, 2));
      const made = await app.as("user", "/v1/api/bookings", request, users[number % 3]);
      ids.push(String((await json(made))["bookingId"]));
    }
    return ids;
  };

  test("reads 50 bookings with flight, user, passengers and pageInfo in 3 statements", async () => {
    await addBookings(51);
    const bookings = `bookings(first: 50) { nodes { bookingId flight { flightNumber } user { name }`;
    const plain = await countOf(`{ ${bookings} } } }`);
    expect(listAt(plain.data, "bookings", "nodes")).toHaveLength(50);
    expect(
      new Set(listAt(plain.data, "bookings", "nodes").map((node) => JSON.stringify(node))).size,
    ).toBe(50);
    expect(plain.statements).toBe(2);
    const full = await countOf(
      `{ ${bookings} passengers { passportNumber } } pageInfo { hasNextPage hasPreviousPage } } }`,
    );
    expect(full.statements).toBe(3);
  });

  test("reads totalCount and hasPreviousPage only if selected, in one statement or slice each", async () => {
    await addBookings(5);
    const page = "query ($after: String) { bookings(first: 2, after: $after)";
    const first = await countOf(`${page} { pageInfo { hasNextPage endCursor } } }`);
    expect(first.statements).toBe(1);
    const after = new Map(Object.entries(Object(first.data["bookings"]).pageInfo)).get("endCursor");
    const next = (fields: string) => countOf(`${page} { ${fields} } }`, { after });
    expect((await next("pageInfo { hasNextPage }")).statements).toBe(1);
    expect((await next("pageInfo { hasNextPage hasPreviousPage }")).statements).toBe(2);
    expect(
      (await next("a: pageInfo { hasPreviousPage } b: pageInfo { hasPreviousPage }")).statements,
    ).toBe(2);
    // SQLite counts in slices: a statement finds the end of each.
    const slicing = defaultDialect === "sqlite" ? 1 : 0;
    expect((await next("totalCount")).statements).toBe(3 + slicing);
  });

  test("reads nodes of one type in one statement", async () => {
    const ids = await addBookings(20);
    const globalIds = ids.map((id) => Buffer.from(`Booking:${id}`).toString("base64"));
    const query =
      "query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Booking { bookingId user { name } } } }";
    const { data, statements: taken } = await countOf(query, { ids: globalIds });
    expect(listAt(data, "nodes").map((node) => Object(node).bookingId)).toEqual(ids);
    expect(taken).toBe(2);
  });
});
