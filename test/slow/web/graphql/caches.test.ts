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
  const megabytes = () => {
    Bun.gc(true);
    return process.memoryUsage().rss / 2 ** 20;
  };
  const fields = `id flightNumber airline origin destination departureTime arrivalTime duration cabinClass
    price { amount currency } seatsAvailable createdAt`;
  const query = (number: number, lists: number) =>
    `{ n${number}: __typename ${`flights(first: 1) { nodes { ${fields} } } `.repeat(lists)} }`;

  /** Sends `count` different queries, each `times` times. Returns the memory growth in MiB. */
  const growthOnce = async (first: number, count: number, times: number, lists: number) => {
    const before = megabytes();
    for (let number = first; number < first + count; number += 1) {
      for (let time = 0; time < times; time += 1) await send(query(number, lists));
    }
    return megabytes() - before;
  };
  /** The less of two times: what is kept grows each time, unlike what the process happens not to have given back. */
  const growth = async (count: number, times: number, lists: number) => {
    // Warm up: memory pools of the process and machine code.
    for (let number = 0; number < 600 / lists; number += 1)
      await send(query(1_000_000 + number, lists));
    const first = await growthOnce(0, count, times, lists);
    return Math.min(first, await growthOnce(count, count, times, lists));
  };

  test("is bounded for many different queries sent a few times [API4-13]", async () => {
    expect(await growth(800, 4, 3)).toBeLessThan(64);
  });

  test("is bounded for many large queries that are compiled", async () => {
    expect(await growth(70, runsBeforeCompiling + 3, 7)).toBeLessThan(128);
  });
});
