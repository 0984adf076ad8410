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
const formats = "src/outbound/formats/formats.ts";
const column = "channel text not null default 'web',\n";

const loungesSql = {
  sqlite:
    "create table lounges (id text not null primary key, name text not null, created_at integer not null) strict;\n",
  postgres:
    'create table lounges (id text collate "C" not null primary key, name text not null, created_at bigint not null);\n',
};

const additions: Readonly<Record<string, Addition>> = {
  column: {
    changes: [
      [
        model,
        "export const bookingFields = {\n",
        'export const bookingFields = {\nchannel: personal("none", text("Where it was sold.", "web")),\n',
      ],
      [
        model,
        "export const emptyBooking = {\n",
        'export const emptyBooking = {\nchannel: "web",\n',
      ],
      ...["sqlite", "postgres"].map((database): Change => [
        `src/schema/${database}.sql`,
        "create table bookings (\n",
        `create table bookings (\n${column}`,
      ]),
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
      ...(["sqlite", "postgres"] as const).map((database): Change => [
        `src/schema/${database}.sql`,
        "create table seat_holds (\n",
        `${loungesSql[database]}create table seat_holds (\n`,
      ]),
    ],
    files: {
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

/** What is there then: a booking shows its field in REST and GraphQL, and destinations take the format. */
const trial = `import { expect, test } from "bun:test";
import { json, jsonWith } from "../support/app.ts";
import { bookingCalls } from "../support/bookings.ts";
import { addFlight, post } from "../support/flights.ts";
import { appPerTest } from "../support/running-app.ts";
const app = appPerTest();
test("what was added is there", async () => {
  const { book, get } = bookingCalls(app);
  const { bookingId } = await jsonWith(await book((await addFlight(app)).id), 201);
  expect(await json(await get(bookingId))).toMatchObject({ channel: "web" });
  const query = "{ bookings { edges { node { channel } } } }";
  const answer = await app.as("user", "/graphql", post({ query }), "ada");
  expect(await json(answer)).toEqual({ data: { bookings: { edges: [{ node: { channel: "web" } }] } } });
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
    const touched = new Set([...changes.map(([file]) => file), ...Object.keys(files)]);
    expect(touched.size).toBeLessThanOrEqual(name === "resource" ? 9 : 4);
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
