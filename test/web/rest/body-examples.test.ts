import { expect, test } from "bun:test";
import { join } from "node:path";

import { json, startApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { addFlight, post } from "../../support/flights.ts";
import { folderForTests } from "../../support/folder.ts";

/** What needs more than the document. */
const others: Readonly<Record<string, string>> = {
  receiveWebhook: "the provider's signature",
  issueToken: "the secret of a client, which the command line shows once",
  openSession: "the header of the console",
};

/** What ends the use of what others need. */
const lastOnes = ["recordRefund", "erasePerson"];

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
  };
}

test("the example of each body succeeds, a year later too", async () => {
  const folder = folderForTests();
  const clock = manualClock(Date.UTC(2027, 10, 29, 9));
  const env = { PROVIDERS_DIR: join(folder, "providers") };
  await using app = await startApp(env, clock, { secretsDir: join(folder, "secrets") });
  await addFlight(app);
  await addFlight(app, { flightNumber: "SK101" });
  await app.deliver("code_host", "{}", { secret: "another" });

  const { paths } = await json(await app.fetch("/openapi.json"));
  const withBodies = Object.entries(Object(paths))
    .flatMap(([path, item]) =>
      Object.entries<Operation>(Object(item)).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        ...operation,
        example: operation.requestBody?.content["application/json"]?.example,
      })),
    )
    .filter(({ requestBody }) => requestBody !== undefined);
  expect(withBodies.filter(({ example }) => example === undefined)).toEqual([]);
  const sent = withBodies.filter(({ operationId }) => !(operationId in others));
  expect(sent).toHaveLength(withBodies.length - Object.keys(others).length);

  const made = new Map<string, Record<string, unknown>>();
  const failed: string[] = [];
  for (const operation of sent.toSorted((one, other) => placeOf(one) - placeOf(other))) {
    const { path, method, operationId, parameters = [], example } = operation;
    const [list = ""] = path.split("/{", 1);
    if (path !== list && !made.has(list)) {
      const { data } = await json(await app.as("admin", list));
      made.set(list, Object(data)[0]);
    }
    const { id, bookingId } = made.get(list) ?? {};
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
      const own = parameters.find((each) => each.in === "path" && each.name === name);
      return String((name === "id" ? (id ?? bookingId) : undefined) ?? own?.example);
    });
    if (operationId === "recordRefund")
      await app.as("admin", `/v1/api/bookings/${String(bookingId)}`, { method: "DELETE" });
    const response = await app.as("admin", filled, { ...post(example), method });
    const body = await response.text();
    if (response.ok) made.set(path, JSON.parse(body));
    else failed.push(`${operationId}: ${JSON.stringify(example)} answers ${body}`);
  }
  expect(failed).toEqual([]);
});

/** What makes a resource comes before what uses it. */
const placeOf = ({ path, operationId }: { path: string; operationId: string }): number =>
  lastOnes.includes(operationId) ? 2 : path.includes("{") ? 1 : 0;
