import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";

import { page } from "../../docs/markdown.ts";
import { alteredCopy, type Change } from "../../support/altered-copy.ts";
import { ended, plainEnvironment } from "../../support/program.ts";

/** What a newcomer adds by a row of CONTRIBUTING.md: changes of files that the row names, and new files in its folders. */
interface Addition {
  readonly changes: readonly Change[];
  readonly files?: Readonly<Record<string, string>>;
}

const model = "src/booking/model/booking.ts";
const request = "src/booking/bookings/booking-request.ts";
const formats = "src/outbound/formats/formats.ts";

/** A migration of both databases: two files, and their lines in the schema. */
function migration(name: string, sqlite: string, postgres: string): Required<Addition> {
  const texts = { sqlite, postgres };
  const databases = ["sqlite", "postgres"] as const;
  const file = (database: string) => `${name}.${database}.sql`;
  return {
    changes: databases.flatMap((database): Change[] => [
      [
        "src/schema/schema.ts",
        `import ${database} from`,
        `import ${name}_${database} from "./${file(database)}" with { type: "text" };\nimport ${database} from`,
      ],
      [
        "src/schema/schema.ts",
        `{ name: "0.1.0", sql: ${database} }`,
        `{ name: "0.1.0", sql: ${database} }, { name: "0.2.0 ${name}", sql: ${name}_${database} }`,
      ],
    ]),
    files: Object.fromEntries(
      databases.map((database) => [`src/schema/${file(database)}`, texts[database]]),
    ),
  };
}

function columnOfBookings(name: string, value: string): Required<Addition> {
  const sql = `alter table bookings add column ${name} text not null default '${value}';\n`;
  const { changes, files } = migration(name, sql, sql);
  return {
    files,
    changes: [
      ...changes,
      [
        model,
        "export const bookingFields = {\n",
        `export const bookingFields = {\n${name}: personal("none", text("A new column.", "${value}")),\n`,
      ],
      [
        model,
        "export const emptyBooking = {\n",
        `export const emptyBooking = {\n${name}: "${value}",\n`,
      ],
    ],
  };
}

const sentField = columnOfBookings("campaign", "none");
const lounges = migration(
  "lounges",
  "create table lounges (id text not null primary key, name text not null, created_at integer not null) strict;\n",
  'create table lounges (id text collate "C" not null primary key, name text not null, created_at bigint not null);\n',
);

const additions: Readonly<Record<string, Addition>> = {
  column: columnOfBookings("channel", "web"),
  "field of a booking": {
    files: sentField.files,
    changes: [
      ...sentField.changes,
      [
        request,
        "    hold: Type.Optional(\n",
        '    campaign: Type.Optional(Type.String({ maxLength: 20, description: "Why it was booked." })),\n    hold: Type.Optional(\n',
      ],
      [
        request,
        "paymentMethod, hold, expectedPrice } = readBody(",
        "paymentMethod, hold, expectedPrice, campaign } = readBody(",
      ],
      [
        request,
        "    ...(hold === true && { hold }),\n",
        "    ...(hold === true && { hold }),\n    ...(campaign !== undefined && { campaign }),\n",
      ],
      [
        "src/booking/bookings/sale.ts",
        "  { hold, passengers, contactEmail, paymentMethod }: BookingRequest,\n",
        "  { hold, passengers, contactEmail, paymentMethod, campaign }: BookingRequest,\n",
      ],
      [
        "src/booking/bookings/sale.ts",
        "    contactEmail,\n    paymentMethod,\n",
        "    contactEmail,\n    paymentMethod,\n    ...(campaign !== undefined && { campaign }),\n",
      ],
    ],
  },
  resource: {
    changes: [
      [
        "src/booking/room.rest.ts",
        "  readonly flights: Flights;\n",
        '  readonly lounges: import("./flights/lounges.ts").Lounges;\n  readonly flights: Flights;\n',
      ],
      [
        "src/booking/room.rest.ts",
        "    .use(flightsRest(",
        "    .use(loungesRest(services.lounges, callers))\n    .use(flightsRest(",
      ],
      [
        "src/booking/room.rest.ts",
        "import { flightsRest }",
        'import { loungesRest } from "./flights/lounges.rest.ts";\nimport { flightsRest }',
      ],
      [
        "src/wiring/booking.ts",
        "    flights: flights(storage, clock),\n",
        "    flights: flights(storage, clock),\n    lounges: lounges(storage),\n",
      ],
      [
        "src/wiring/booking.ts",
        "import type { BookingServices }",
        'import { lounges } from "../booking/flights/lounges.ts";\nimport type { BookingServices }',
      ],
      [
        "src/schema/schema.ts",
        "  bookings: bookingsTable,\n",
        "  bookings: bookingsTable,\n  lounges: loungesTable,\n",
      ],
      [
        "src/schema/schema.ts",
        "import { bookingsTable",
        'import { loungesTable } from "../booking/model/lounge.ts";\nimport { bookingsTable',
      ],
      ...lounges.changes,
    ],
    files: {
      ...lounges.files,
      "src/booking/model/lounge.ts": `import { defineTable, personal, type Stored } from "../../db/table.ts";
import { pageOf } from "../../web/page.schema.ts";
import { instant, prefixedId, resource, text } from "../../web/schema.ts";
export const loungeSchema = resource("Lounge", "A lounge of an airport.", {
  id: prefixedId("lng_"),
  name: personal("none", text("Its name.", "Sky")),
  createdAt: instant(),
});
export const loungePageSchema = pageOf(loungeSchema);
export const loungesTable = defineTable("lounges", loungeSchema.properties);
export interface Lounge extends Stored<typeof loungesTable> {}
`,
      "src/booking/flights/lounges.sql.ts": `import { pagesOver } from "../../db/keyset.ts";
import { type Lounge, loungesTable } from "../model/lounge.ts";
const tables = { lounges: loungesTable };
export const loungePages = pagesOver(tables)<Lounge, never>({
  table: (t) => t.lounges,
  select: (db, t) => db.select().from(t.lounges),
});
`,
      "src/booking/flights/lounges.ts": `import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import type { Lounge } from "../model/lounge.ts";
import { loungePages } from "./lounges.sql.ts";
export interface Lounges {
  list(request: PageRequest): Promise<Page<Lounge>>;
}
export const lounges = (storage: Storage): Lounges => ({
  list: (request) => paginate(loungePages(storage, {}), request),
});
`,
      "src/booking/flights/lounges.rest.ts": `import { Elysia } from "elysia";
import { type Callers, routes } from "../../web/rest/route.ts";
import { loungePageSchema } from "../model/lounge.ts";
import type { Lounges } from "./lounges.ts";
export const loungesRest = (lounges: Lounges, callers: Callers) =>
  new Elysia({ name: "lounges" }).get(
    "/v1/api/lounges",
    ...routes(callers, "Flights").list("listLounges", "List lounges", {
      ids: "lng_",
      response: loungePageSchema,
      serve: ({ page }) => lounges.list(page),
    }),
  );
`,
    },
  },
  "event about bookings or flights": {
    changes: [
      [
        "src/booking/events/event-types.ts",
        '  "booking.held": plain("info"),\n',
        '  "booking.held": plain("info"),\n"booking.upgraded": plain("success"),\n',
      ],
    ],
  },
  setting: {
    changes: [
      [
        "src/config/settings.ts",
        "export const settings = {\n",
        'export const settings = {\nmotto: setting("MOTTO", "fly", "What `skyhook hello` says", text),\n',
      ],
    ],
  },
  "CLI command": {
    changes: [
      [
        "src/cli/cli.ts",
        '  ["apply", ',
        '  ["hello", () => import("./operate/hello.ts")],\n  ["apply", ',
      ],
    ],
    files: {
      "src/cli/operate/hello.ts": `import type { Command } from "commander";
import { readConfig } from "../../config/config.ts";
export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program.command("hello").action(() => console.log(readConfig(env).motto));
}
`,
    },
  },
  "error code": {
    changes: [
      ["src/base/errors.ts", '  | "bad-request"\n', '  | "bad-request"\n  | "too-early"\n'],
      [
        "src/web/problems.ts",
        '  "bad-request": {\n',
        '"too-early": { status: 425, title: "Too early", explanation: "Try again later." },\n  "bad-request": {\n',
      ],
    ],
  },
  "destination format": {
    changes: [
      [formats, "  discord,\n  teams,\n", "  discord,\n  plain,\n  teams,\n"],
      [formats, "  teams: renderTeams,\n", "  teams: renderTeams,\n  plain: renderPlain,\n"],
      [
        formats,
        "import { renderSlack",
        'import { plain, renderPlain } from "./plain.ts";\nimport { renderSlack',
      ],
    ],
    files: {
      "src/outbound/formats/plain.ts": `import type { FormatInfo, Render } from "./format.ts";
export const plain = { label: "Plain", url: "Any", transport: "http", secret: null } as const satisfies FormatInfo;
export const renderPlain: Render = ({ notification }) => ({
  headers: { "content-type": "text/plain" },
  body: notification.title,
});
`,
    },
  },
};

/** What is there then: bookings take and show their fields in REST and GraphQL, and destinations take the format. */
const trial = `import { expect, test } from "bun:test";
import { json, jsonWith } from "../support/app.ts";
import { flightBookings } from "../support/bookings.ts";
import { post } from "../support/flights.ts";
import { appPerTest } from "../support/running-app.ts";
const app = appPerTest();
test("what was added is there", async () => {
  const { booked, flightIn } = flightBookings(app, "SK");
  const { id } = await booked(await flightIn(100), 1, { campaign: "summer" });
  const fields = { channel: "web", campaign: "summer" };
  expect(await json(await app.as("user", "/v1/api/bookings/" + id, {}, "ada"))).toMatchObject(fields);
  const query = "{ bookings { edges { node { channel campaign } } } }";
  const answer = await app.as("user", "/graphql", post({ query }), "ada");
  expect(await json(answer)).toEqual({ data: { bookings: { edges: [{ node: fields }] } } });
  await booked(await flightIn(100), 1);
  const list = await json(await app.as("user", "/v1/api/bookings", {}, "ada"));
  expect(list).toMatchObject({ data: [{ campaign: "none" }, { campaign: "summer" }] });
  expect(await json(await app.as("user", "/v1/api/lounges"))).toMatchObject({ data: [] });
  const body = { name: "a", format: "plain", url: "https://example.com/" };
  await jsonWith(await app.as("admin", "/v1/destinations", post(body)), 201);
});
`;

const copy = alteredCopy(Object.values(additions).flatMap(({ changes }) => changes));
beforeAll(async () => {
  const files = Object.values(additions).flatMap(({ files = {} }) => Object.entries(files));
  for (const [file, text] of [...files, ["test/base/trial.test.ts", trial] as const]) {
    await Bun.write(join(copy.folder, file), text);
  }
});
afterAll(() => copy[Symbol.dispose]());

test.each(Object.entries(additions))(
  "CONTRIBUTING.md names all files that a new %s touches",
  (name, { changes, files = {} }) => {
    const row = page("CONTRIBUTING.md").match(new RegExp(`^\\| ${name} \\|.*`, "m"))?.[0] ?? "";
    for (const [file] of changes) {
      expect(row).toContain(file.endsWith("/room.rest.ts") ? "`room.rest.ts`" : file);
    }
    const migrations = Object.keys(files).filter((file) => file.endsWith(".sql"));
    for (const file of migrations) {
      expect(row).toContain(file.replace(/\w+(?=\.\w+\.sql$)/, "<change>"));
    }
    const touched = new Set([...changes.map(([file]) => file), ...Object.keys(files)]);
    expect(touched.size).toBeLessThanOrEqual(name === "resource" ? 10 : 6);
  },
);

test("what CONTRIBUTING.md says is enough: types, program and API", async () => {
  expect(await run("check", "--no-script", "-p", "tsconfig.json")).toContain("No type errors");
  expect(await run("src/main.ts", "hello")).toContain("fly");
  expect(await run("src/main.ts", "config")).toContain("MOTTO");
  expect(await run("test", "test/base/trial.test.ts")).toContain(" 1 pass");
}, 60_000);

async function run(...args: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: copy.folder,
    env: plainEnvironment(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { out, err } = await ended(child);
  return `${out}\n${err}`;
}
