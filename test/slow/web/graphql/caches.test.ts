import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { runsBeforeCompiling } from "../../../../src/web/graphql/compiled.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { postQuery } from "../../../support/graphql.ts";

describe("the memory of the service", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.stop());

  const send = async (query: string) => {
    const response = await app.fetch("/graphql", postQuery(query));
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

  /** Sends `count` different queries, each so often, and returns by how much the memory grew. */
  const growth = async (count: number, times: number, lists: number) => {
    // What any queries need once: the process's own pools, and code compiled for the machine.
    for (let number = 0; number < 600 / lists; number += 1)
      await send(query(1_000_000 + number, lists));
    const before = megabytes();
    for (let number = 0; number < count; number += 1) {
      for (let time = 0; time < times; time += 1) await send(query(number, lists));
    }
    return megabytes() - before;
  };

  test("has a bound when strangers send many different queries a few times [API4-13]", async () => {
    expect(await growth(800, 4, 3)).toBeLessThan(64);
  });

  test("has a bound when they send many large ones so often that they are compiled", async () => {
    expect(await growth(24, runsBeforeCompiling + 3, 20)).toBeLessThan(128);
  });
});
