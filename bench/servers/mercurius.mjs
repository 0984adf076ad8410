// The peer for GraphQL pages: a good Node implementation. mercurius compiles repeated queries (jit),
// @fastify/jwt verifies and caches the access token, and one prepared statement reads the page by keyset from
// Skyhook's rows. It serves Skyhook's GraphQL schema.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../peers/package.json", import.meta.url));
const Database = require("better-sqlite3");
const fastify = require("fastify");
const jwt = require("@fastify/jwt");
const { GraphQLScalarType } = require("graphql");
const mercurius = require("mercurius");

const { PORT, DATABASE, JWT_SECRET, JWT_ISSUER, JWT_AUDIENCE } = process.env;

const database = new Database(DATABASE, { fileMustExist: true });
database.pragma("journal_mode = wal");
database.pragma("mmap_size = 1073741824");

const columns = `id, reference, status, seats, total_minor / 100.0 as totalPrice, currency,
  contact_email as confirmationSentTo, created_at as createdAt, updated_at as updatedAt`;
const newestFirst = "order by created_at desc, id desc limit @limit";
const firstPage = database.prepare(`select ${columns} from bookings ${newestFirst}`);
const laterPage = database.prepare(
  `select ${columns} from bookings where (created_at, id) < (@createdAt, @id) ${newestFirst}`,
);

function bookingsPage({ first, after }) {
  const size = first ?? 20;
  if (size < 0 || size > 100)
    throw new mercurius.ErrorWithProps("The page size must be from 0 to 100");
  const limit = size + 1;
  const rows = after ? laterPage.all({ ...positionOf(after), limit }) : firstPage.all({ limit });
  const nodes = rows.slice(0, size);
  return {
    nodes,
    pageInfo: {
      hasNextPage: rows.length > size,
      hasPreviousPage: Boolean(after),
      startCursor: nodes.length === 0 ? null : cursorOf(nodes[0]),
      endCursor: nodes.length === 0 ? null : cursorOf(nodes.at(-1)),
    },
  };
}

function cursorOf({ createdAt, id }) {
  const position = { createdAt: new Date(createdAt).toISOString(), id };
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

function positionOf(cursor) {
  const { createdAt, id } = JSON.parse(Buffer.from(cursor, "base64url").toString());
  return { createdAt: Date.parse(createdAt), id };
}

const app = fastify({ logger: false });
app.register(jwt, {
  secret: JWT_SECRET,
  verify: {
    algorithms: ["HS256"],
    allowedIss: JWT_ISSUER,
    allowedAud: JWT_AUDIENCE,
    requiredClaims: ["exp", "iat", "jti", "sub"],
    cache: 5_000,
  },
});
app.addHook("onRequest", (request) => request.jwtVerify());
app.register(mercurius, {
  schema: readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8"),
  resolvers: {
    DateTime: new GraphQLScalarType({
      name: "DateTime",
      serialize: (ms) => new Date(ms).toISOString(),
    }),
    Query: { bookings: (_, args) => bookingsPage(args) },
    BookingConnection: {
      edges: ({ nodes }) => nodes.map((node) => ({ node, cursor: cursorOf(node) })),
    },
    Booking: { bookingId: ({ id }) => id },
  },
  jit: 1,
  graphiql: false,
});

await app.listen({ host: "127.0.0.1", port: Number(PORT) });

process.on("SIGTERM", () => {
  void app.close().then(() => {
    database.close();
    process.exit(0);
  });
});
