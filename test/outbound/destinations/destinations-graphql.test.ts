import { expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });

async function ask(
  query: string,
  variables: object,
  bearer = "ada",
  role: "user" | "admin" = "user",
) {
  return json(await app.as(role, "/graphql", post({ query, variables }), bearer));
}

const create = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { secret destination { destinationId name state filter } }
}`;

test("GraphQL creates, pauses, lists and removes a destination of the caller", async () => {
  const input = { name: "gql", format: "json", url: "http://127.0.0.1:1099/", filter: "true" };
  const made = await ask(create, { input });
  expect(made).toMatchObject({
    data: {
      createDestination: {
        secret: expect.stringMatching(/^whsec_/),
        destination: { name: "gql", state: "active", filter: "true" },
      },
    },
  });
  const { destinationId } = Object(made["data"]).createDestination.destination;
  const pause = `mutation ($id: ID!) { setDestinationState(destinationId: $id, state: paused) { state } }`;
  expect(await ask(pause, { id: destinationId })).toEqual({
    data: { setDestinationState: { state: "paused" } },
  });
  const list = "{ destinations { nodes { name } } }";
  expect(await ask(list, {})).toEqual({ data: { destinations: { nodes: [{ name: "gql" }] } } });
  expect(await ask(list, {}, "bob")).toEqual({ data: { destinations: { nodes: [] } } });
  const one = "query ($id: ID!) { destination(destinationId: $id) { name } }";
  expect(await ask(one, { id: destinationId }, "bob")).toEqual({ data: { destination: null } });
  const test = "mutation ($id: ID!) { testDestination(destinationId: $id) { delivered } }";
  expect(await ask(test, { id: destinationId })).toEqual({
    data: { testDestination: { delivered: false } },
  });
  const remove = "mutation ($id: ID!) { removeDestination(destinationId: $id) { name } }";
  expect(await ask(remove, { id: destinationId }, "bob")).toMatchObject({
    errors: [{ extensions: { code: "not-found", status: 404 } }],
  });
  expect(await ask(remove, { id: destinationId })).toEqual({
    data: { removeDestination: { name: "gql" } },
  });
});

test("GraphQL returns a secret to the first request with an idempotency key only", async () => {
  const mutation = `mutation ($input: CreateDestinationInput!) {
    createDestination(input: $input, idempotencyKey: "once") { secret destination { destinationId } }
  }`;
  const input = { name: "once", format: "json", url: "http://127.0.0.1:1099/" };
  const variables = { query: mutation, variables: { input } };
  const [first, again] = [
    await app.as("user", "/graphql", post(variables), "carol"),
    await app.as("user", "/graphql", post(variables), "carol"),
  ];
  for (const { headers } of [first, again]) expect(headers.get("cache-control")).toBe("no-store");
  const { createDestination: made } = Object((await json(first))["data"]);
  expect(made.secret).toMatch(/^whsec_/);
  expect(await json(again)).toEqual({ data: { createDestination: { ...made, secret: null } } });
});

test("GraphQL names what is wrong with a new destination", async () => {
  const input = { name: "gql", format: "json", url: "ftp://a", filter: "event.typ == 1" };
  const answer = await ask(create, { input });
  expect(answer).toMatchObject({
    errors: [{ extensions: { code: "validation-failed", status: 422 } }],
  });
  expect(JSON.stringify(answer)).toContain("Did you mean event.type?");
});

test("GraphQL shows the health of destinations and sends dead deliveries again", async () => {
  const input = { name: "health", format: "json", url: "http://127.0.0.1:1099/" };
  const made = await ask(create, { input }, "hal");
  const { destinationId } = Object(made["data"]).createDestination.destination;
  const health =
    "{ destinations { nodes { ownerId openUntil health { circuit outcomes waiting dead oldestSeconds successRate p50Ms p95Ms lastError lastAttemptAt } } } }";
  expect(await ask(health, {}, "hal")).toEqual({
    data: {
      destinations: {
        nodes: [
          {
            ownerId: "hal",
            openUntil: null,
            health: {
              circuit: "closed",
              outcomes: [],
              waiting: 0,
              dead: 0,
              oldestSeconds: null,
              successRate: null,
              p50Ms: null,
              p95Ms: null,
              lastError: null,
              lastAttemptAt: null,
            },
          },
        ],
      },
    },
  });
  const retry = "mutation ($id: ID!) { retryDestination(destinationId: $id) }";
  expect(await ask(retry, { id: destinationId }, "hal")).toEqual({ data: { retryDestination: 0 } });
  expect(await ask(retry, { id: destinationId }, "bob")).toMatchObject({
    errors: [{ extensions: { code: "not-found" } }],
  });
});

test("GraphQL changes a destination, and null removes what can be removed", async () => {
  const input = { name: "changed", format: "json", url: "http://127.0.0.1:1099/", filter: "true" };
  const made = await ask(create, { input }, "dora");
  const { destinationId } = Object(made["data"]).createDestination.destination;
  const update = `mutation ($id: ID!, $changes: DestinationChanges!) {
    updateDestination(destinationId: $id, changes: $changes) { id name filter retryDelays state }
  }`;
  const changes = { name: null, filter: null, retryDelays: "1s 2s", state: "paused" };
  const changed = await ask(update, { id: destinationId, changes }, "dora");
  const shown = { name: "changed", filter: null, retryDelays: "1s 2s", state: "paused" };
  expect(changed).toEqual({
    data: { updateDestination: { id: expect.any(String), ...shown } },
  });
  const { id } = Object(changed["data"]).updateDestination;
  const node = "query ($id: ID!) { node(id: $id) { ... on Destination { destinationId name } } }";
  expect(await ask(node, { id }, "dora")).toEqual({
    data: { node: { destinationId, name: "changed" } },
  });
  expect(await ask(node, { id }, "bob")).toEqual({ data: { node: null } });
  expect(await ask(update, { id: destinationId, changes: { name: "b" } }, "bob")).toMatchObject({
    errors: [{ extensions: { code: "not-found", status: 404 } }],
  });
});

test("a notification is a node for operators alone", async () => {
  await app.deliverSample("task_tracker", "task.completed");
  const list = "{ events(first: 1) { nodes { notifications { id notificationId title } } } }";
  const found = await json(await app.as("operator", "/graphql", post({ query: list })));
  const [{ id, ...rest }] = Object(found["data"]).events.nodes[0].notifications;
  const query =
    "query ($id: ID!) { node(id: $id) { ... on Notification { notificationId title } } }";
  const asked = { query, variables: { id } };
  expect(await json(await app.as("operator", "/graphql", post(asked)))).toEqual({
    data: { node: rest },
  });
  expect(await ask(query, { id })).toMatchObject({
    data: { node: null },
    errors: [{ extensions: { code: "insufficient-scope" } }],
  });
});
