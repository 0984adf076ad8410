import fc from "fast-check";

import { operation } from "./graphql-documents.ts";
import { hostileHeaders } from "./headers.ts";
import { encoded, excessiveJson, hostileBody, jsonText } from "./json.ts";
import { anyRole, type FuzzRequest, get, postJson } from "./request.ts";
import { requestTarget } from "./target.ts";
import { damaged, hostileText } from "./text.ts";

const accept = hostileHeaders(["accept"]);

const documentRequests: fc.Arbitrary<FuzzRequest> = fc
  .tuple(operation, anyRole, accept)
  .map(([{ query, values }, as, headers]) => {
    const body = `{"query":${JSON.stringify(query)},"variables":${values}}`;
    const request = postJson("/graphql", fillable(body), as);
    return { ...request, headers: [...request.headers, ...headers] };
  });

const fillable = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

export const documents = requestTarget({
  name: "graphql",
  about: "documents generated from the schema, with good and bad arguments and variables",
  shortRuns: 120,
  requests: documentRequests,
});

const brokenQuery = damaged(operation.map(({ query }) => fillable(query))).map((bytes) =>
  Buffer.from(bytes).toString(),
);
const oddQuery = fc.oneof(
  { weight: 5, arbitrary: brokenQuery },
  fc.constantFrom(
    "{".repeat(3_000),
    `{ me ${"{ id ".repeat(900)}${"}".repeat(900)} }`,
    "query A { me { id } } query B { me { id } }",
    "fragment F on User { ...F } { me { ...F } }",
    "fragment A on User { ...B } fragment B on User { ...A } { me { ...A } }",
    `{ ${"a: __typename ".repeat(20)} }`,
    `{ node(id: "x") { ${"... on User { id } ".repeat(300)} } }`,
    `query(${Array.from({ length: 300 }, (_, n) => `$v${n}: Int`).join(",")}) { me { id } }`,
    `{ nodes(ids: [${'"x",'.repeat(150)}]) { id } }`,
    `{ me ${"@skip(if: false) ".repeat(30)} { id } }`,
    `{ nodes(ids: ${"[".repeat(500)}1${"]".repeat(500)}) { id } }`,
    "{ __schema { types { fields { type { fields { name } } } } } }",
    `"""${"x".repeat(90_000)}""" { me { id } }`,
    "#".repeat(110_000),
    "type Query { a: Int }",
    "{ me(a: $b) { id @defer } }",
  ),
  hostileText,
);

const parameters = fc
  .record({
    query: oddQuery.map((query) => JSON.stringify(query)),
    variables: fc.oneof(
      jsonText,
      excessiveJson.filter((text) => text.length < 90_000),
    ),
    operationName: fc.oneof(fc.constantFrom("null", '"A"', '"Q"'), jsonText),
    extensions: fc.oneof(fc.constantFrom("null", '{"persistedQuery":{"version":1}}'), jsonText),
  })
  .chain((fields) => fc.subarray(Object.entries(fields)))
  .map((fields) => `{${fields.map(([name, value]) => `"${name}":${value}`).join(",")}}`);

const textRequests: fc.Arbitrary<FuzzRequest> = fc.oneof(
  fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: encoded(parameters) },
        { weight: 1, arbitrary: hostileBody },
        { weight: 1, arbitrary: parameters.map((one) => fillable(`[${one},${one}]`)) },
      ),
      hostileHeaders(["content-type", "accept"], [["content-type", "application/json"]]),
      anyRole,
    )
    .map(([body, headers, as]) => ({ ...postJson("/graphql", body, as), headers })),
  fc
    .tuple(oddQuery, fc.option(jsonText), accept, anyRole)
    .map(([query, variables, headers, as]) => {
      const parts = { query, ...(variables !== null && { variables }) };
      const search = Object.entries(parts).map(
        ([name, value]) => `${name}=${encodeURIComponent(value.slice(0, 5_000).toWellFormed())}`,
      );
      return { ...get(`/graphql?${search.join("&")}`, as), headers };
    }),
);

export const graphqlTexts = requestTarget({
  name: "graphql-text",
  about: "broken, huge and odd documents, variables and bodies, by POST and GET",
  shortRuns: 120,
  requests: textRequests,
});
