import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { runsBeforeCompiling } from "../../../../src/web/graphql/compiled.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { postQuery, sendAs } from "../../../support/graphql.ts";

describe("memory of the server", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.stop());

  const send = async (query: string) => {
    // With a token: without one, so many are refused.
    const response = await sendAs(app, "user", postQuery(query));
    expect(await response.text()).toStartWith('{"data":{');
  };
  /** Of live objects: what the process has not given back to the system varies more than a leak. */
  const megabytes = () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const fields = `id flightNumber airline origin destination departureTime arrivalTime duration cabinClass
    price { amount currency } seatsAvailable createdAt`;
  const query = (number: number, lists: number) =>
    `{ n${number}: __typename ${`flights(first: 1) { nodes { ${fields} } } `.repeat(lists)} }`;

  const sendAll = async (first: number, count: number, times: number, lists: number) => {
    for (let number = first; number < first + count; number += 1) {
      for (let time = 0; time < times; time += 1) await send(query(number, lists));
    }
  };
  /** Sends `count` different queries three times, each `times` times. Returns by how many MiB the last ones grew the heap. */
  const growth = async (count: number, times: number, lists: number) => {
    // Fill the caches.
    await sendAll(0, count, times, lists);
    await sendAll(count, count, times, lists);
    const before = megabytes();
    await sendAll(2 * count, count, times, lists);
    return megabytes() - before;
  };

  test("is bounded for many different queries sent a few times [API4-13]", async () => {
    expect(await growth(800, 4, 3)).toBeLessThan(8);
  });

  test("is bounded for many large queries that are compiled", async () => {
    expect(await growth(70, runsBeforeCompiling + 3, 7)).toBeLessThan(4);
  });
});
