import { beforeAll, describe, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { RawClient } from "../../support/raw-client.ts";
import { listeningForAll } from "../../support/running-app.ts";

const server = listeningForAll({ CORS_ORIGINS: "https://app.example.com" });
let bearer: string;
beforeAll(async () => {
  bearer = await server.app.services.tokens.mint({ id: "admin", roles: ["admin"] }, 3_600);
});

const head = (first: string, ...headers: readonly string[]) =>
  [`${first} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
const post = (path: string, body: string) =>
  `${head(`POST ${path}`, "Content-Type: application/json", `Content-Length: ${body.length}`)}${body}`;

const requests: Readonly<Record<string, () => string>> = {
  "GET /livez": () => head("GET /livez"),
  "HEAD /livez": () => head("HEAD /livez"),
  "GET /": () => head("GET /"),
  "GET /, as a page": () => head("GET /", "Accept: text/html"),
  "GET /metrics": () => head("GET /metrics"),
  "GET /docs": () => head("GET /docs"),
  "GET /swagger": () => head("GET /swagger"),
  "GET /openapi.json": () => head("GET /openapi.json"),
  "GET /console": () => head("GET /console"),
  "GET /problems/internal": () => head("GET /problems/internal"),
  "a list": () => head("GET /v1/events", `Authorization: Bearer ${bearer}`),
  "a search": () => head("GET /v1/api/flights?origin=JFK&destination=LHR&departureDate=2027-01-01"),
  "a GraphQL query": () => post("/graphql", '{"query":"{ __typename }"}'),
  "a GraphQL query by GET": () => head("GET /graphql?query={__typename}"),
  "the playground": () => head("GET /graphql", "Accept: text/html"),
  "401": () => head("GET /v1/users"),
  "404": () => head("GET /nothing"),
  "405": () => head("DELETE /livez"),
  "400": () => head("GET /v1/api/flights"),
  "a CORS preflight": () =>
    head(
      "OPTIONS /v1/users",
      "Origin: https://app.example.com",
      "Access-Control-Request-Method: GET",
    ),
  "a delivery without a signature": () => post("/webhooks/task_tracker", "{}"),
  "a delivery to an unknown provider": () => post("/webhooks/none", "{}"),
};

function isWhole(answer: string, isHead: boolean): boolean {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  if (isHead || answer.startsWith("HTTP/1.1 204")) return true;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(answer) ?? [];
  if (length === undefined) return answer.endsWith("\r\n0\r\n\r\n");
  return answer.length === headEnd + 4 + Number(length);
}

describe("a connection", () => {
  test.each(Object.entries(requests))(
    "takes one request at a time: %s [API4-22]",
    async (_, request) => {
      using client = await RawClient.connect(server.url);
      // One after the other, as HTTP clients reuse connections. The first may load what the route needs.
      for (let times = 0; times < 2; times += 1) {
        client.write(request());
        await until(() => isWhole(client.received, request().startsWith("HEAD")));
        client.received = "";
      }
      expect(client.ended).toBeFalse();
      client.write(request().repeat(3));
      await until(() => client.ended);
      expect(client.received).toBe("");
    },
  );
});
