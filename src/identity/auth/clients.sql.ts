import { asc, eq } from "drizzle-orm";

import { allColumns, statementsOver } from "../../db/statement.ts";

import { type Client, clientsTable } from "./client.ts";

const tables = { clients: clientsTable };
const statement = statementsOver(tables);

export const insertClient = statement<Client>()((db, { clients }) =>
  db.insert(clients).values(allColumns(clients)),
);

export const clientById = statement<Pick<Client, "id">>()((db, { clients }, p) =>
  db.select().from(clients).where(eq(clients.id, p.id)).limit(1),
);

export const allClients = statement()((db, { clients }) =>
  db.select().from(clients).where(undefined).orderBy(asc(clients.createdAt)),
);

/** Touches no row when the client does not exist. */
export const deleteClient = statement<Pick<Client, "id">>()((db, { clients }, p) =>
  db.delete(clients).where(eq(clients.id, p.id)),
);
