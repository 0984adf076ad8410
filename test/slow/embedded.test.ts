import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";

import { authorization } from "../support/load.ts";
import { agentOf } from "../support/mcp.ts";
import { itemsOf } from "../support/operator.ts";
import { runSkyhook } from "../support/program.ts";
import { resources } from "../support/resources.ts";

// What comes with the program, from a folder in which nothing else is.

const taken = resources();
const page = { headers: { accept: "text/html" } };

test("the API documents, the playground and their scripts come with the program", async () => {
  const { url } = await taken.start(taken.newFolder());
  const pages = { "/swagger": "/swagger/scalar.js", "/graphql": "/graphql/playground/graphiql.js" };
  for (const path of ["/", "/docs", "/docs/operations", "/docs/operations.md", "/llms.txt"]) {
    const answer = await fetch(url + path, page);
    expect([path, answer.status]).toEqual([path, 200]);
    expect((await answer.text()).length).toBeGreaterThan(500);
  }
  for (const [path, script] of Object.entries(pages)) {
    const answer = await fetch(url + path, page);
    expect(answer.headers.get("content-type")).toStartWith("text/html");
    expect(await answer.text()).toContain(script.slice(1));
    expect((await (await fetch(url + script)).text()).length).toBeGreaterThan(1_000_000);
  }
  const document = await (await fetch(`${url}/openapi.json`)).text();
  expect(Object.keys(JSON.parse(document).paths).length).toBeGreaterThan(15);
  const query = JSON.stringify({ query: "{ flights { totalCount } }" });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/graphql`, { method: "POST", headers, body: query });
  expect(await answer.text()).toBe('{"data":{"flights":{"totalCount":0}}}');
});

test("migrations and airports come with the program, which makes its own folder", async () => {
  const cwd = taken.newFolder();
  const plan =
    "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency\n" +
    "SK1,Skyhook Air,JFK,LHR,2099-01-01T23:30:00-05:00,2099-01-02T11:30:00Z,economy,9,499.5,USD\n";
  const { out, code } = await runSkyhook(["import", "-"], { cwd, input: plan });
  expect([out.trim(), code]).toEqual([expect.stringContaining("1 flight imported"), 0]);
  expect(readdirSync(cwd)).toEqual(["data"]);
  const { url } = await taken.start(cwd);
  // The day at the airport: only who knows its time zone finds the flight.
  const search = "v1/api/flights?origin=JFK&destination=LHR&departureDate=2099-01-01";
  expect(await (await fetch(`${url}/${search}`)).text()).toContain('"totalResults":1');
});

test("the library that answers agents comes with the program", async () => {
  const { url } = await taken.start(taken.newFolder());
  const [, token = ""] = (await authorization("operator")).split(" ");
  const agent = agentOf(fetch, { token, url: `${url}/mcp` });
  const { result } = await agent.call("tools/list");
  expect(itemsOf(result?.["tools"]).map(({ name }) => name)).toContain("overview");
  expect(await agent.tool("search_docs", { q: "rotate secrets" })).toMatchObject({
    text: expect.stringContaining("skyhook secrets set"),
  });
});
