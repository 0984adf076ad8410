import type { Mutant } from "../mutant.ts";

export const requests: readonly Mutant[] = [
  // No client delays the others or uses up memory.
  {
    name: "pipelining",
    breaks: "a connection has one request at a time",
    changes: [["src/app.ts", "    .wrap(noPipelining)\n", ""]],
    noticedBy: ["test/web/rest/pipelining.test.ts", "takes one request at a time: a list"],
  },
  {
    name: "unread-bodies",
    breaks: "streams wait before they read more bodies than clients have read",
    changes: [["src/events/stream-budget.ts", "wanted <= smallBytes ||", "wanted >= 0 ||"]],
    noticedBy: ["test/events/stream-budget.test.ts", "read no more bodies than fit"],
  },
  {
    name: "unread-for-ever",
    breaks: "a client that does not read is disconnected while others wait",
    changes: [["src/events/stream-budget.ts", "      oldest.onOverdue();\n", ""]],
    noticedBy: ["test/events/stream-budget.test.ts", "end where a client does not read"],
  },
  {
    name: "spreads-unlimited",
    breaks: "a document has at most 200 spreads of fragments",
    changes: [["src/web/graphql/limits.ts", "spreads: 200", "spreads: 2_000"]],
    noticedBy: ["test/web/graphql/limits.test.ts", "limits spreads of fragments to 200"],
  },
  {
    name: "variable-errors-unlimited",
    breaks: "variables have at most 50 errors",
    changes: [
      ["src/web/graphql/variables.ts", "errors.length >= maxErrors", "errors.length >= Infinity"],
    ],
    noticedBy: ["test/web/graphql/variables.test.ts", "end after 50"],
  },
  // No request is ambiguous.
  {
    name: "two-hosts",
    breaks: "a request has one Host header",
    changes: [["src/web/rest/host.ts", 'includes(" ") === true', 'includes(" ") === null']],
    noticedBy: ["test/web/rest/host.test.ts", "is answered"],
  },
  {
    name: "far-parameter",
    breaks: "only a near name is suggested for an unknown parameter",
    changes: [
      [
        "src/web/rest/known-parameters.ts",
        "nearest(name, known, maxEdits)",
        "nearest(name, known)",
      ],
    ],
    noticedBy: ["test/web/rest/known-parameters.test.ts", "suggest no name that is not near"],
  },
  {
    name: "cors-methods",
    breaks: "a preflight response allows the methods of all routes",
    changes: [["src/web/rest/cors.ts", "= methods();", '= "GET, HEAD, POST, DELETE";']],
    noticedBy: ["test/web/rest/cors.test.ts", "passes the preflight request"],
  },
  {
    name: "malformed-node",
    breaks: "a malformed id among others is an error of its own entry",
    changes: [["src/web/graphql/builder.ts", 'valid[index] ? node : notGlobalId("ids")', "node"]],
    noticedBy: ["test/web/graphql/visibility.test.ts", "for each malformed id of nodes"],
  },
  {
    name: "null-hold",
    breaks: "null for an optional input means that it is absent",
    changes: [
      ["src/booking/bookings/bookings.graphql.ts", "input.hold ?? undefined", "input.hold"],
    ],
    noticedBy: ["test/web/graphql/optional-inputs.test.ts", "absent, in every mutation"],
  },
  {
    name: "token-limit-code",
    breaks: "all limits of GraphQL have one error code",
    changes: [
      [
        "src/web/graphql/documents.ts",
        "tooManyTokens.test(error.message)",
        "error.message === null",
      ],
    ],
    noticedBy: ["test/web/graphql/limits.test.ts", "limits tokens to 2,000"],
  },
  {
    name: "surrogate-half",
    breaks: "JSON with a lone surrogate is rejected",
    changes: [
      ["src/web/rest/json-body.ts", "half !== null && !isPair", 'half === "high" && !isPair'],
    ],
    noticedBy: ["test/web/rest/json-body.test.ts", "must not contain a lone surrogate"],
  },
  {
    name: "drain-refuses",
    breaks: "/readyz is 503 while the server drains",
    changes: [
      [
        "src/cli/serve.ts",
        '    await drained(app.server, signal === "SIGTERM" ? minDrainMs : 0);\n',
        "",
      ],
    ],
    noticedBy: ["test/slow/shutdown.test.ts", "is seen by load balancers as 503"],
  },
];
