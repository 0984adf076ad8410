import { Elysia } from "elysia";

import { bodyReader } from "../base/validation.ts";
import { adminsOnly, type Callers, routes } from "../web/rest/route.ts";

import {
  foundPersonsSchema,
  personDetailsSchema,
  personErasureSchema,
  personExportSchema,
  personSchema,
  personSearchSchema,
} from "./person.schema.ts";
import type { Persons } from "./persons.ts";

const personIn = bodyReader(personSchema, "validation-failed");
const searchIn = bodyReader(personSearchSchema, "validation-failed");

export const personsRest = (persons: Persons, callers: Callers) => {
  const own = routes(callers, "Users");
  const { route } = routes(callers, "Users", adminsOnly);
  return new Elysia({ name: "persons", prefix: "/v1" })
    .get(
      "/me/export",
      ...own.route("exportMe", "Export your own data", {
        costly: true,
        description:
          "What is stored under your user id. Passports are masked; an admin can export them in full.",
        response: personExportSchema,
        serve: ({ ctx }) => persons.exportOwn(ctx),
      }),
    )
    .post(
      "/persons/find",
      ...route("findPersons", "Find persons", {
        costly: true,
        description: "By name, e-mail address or booking. Changes nothing.",
        body: personSearchSchema,
        response: foundPersonsSchema,
        serve: ({ ctx, body }) => persons.find(ctx, searchIn(body).q),
      }),
    )
    .post(
      "/persons/read",
      ...route("readPerson", "Read a person", {
        costly: true,
        description:
          "Their account and bookings, and what blocks an erasure. Changes nothing. Of someone unknown, all is empty.",
        body: personSchema,
        response: personDetailsSchema,
        serve: ({ ctx, body }) => persons.read(ctx, personIn(body).person),
      }),
    )
    .post(
      "/persons/export",
      ...route("exportPerson", "Export a person's data", {
        costly: true,
        description: "Recorded in the audit list.",
        body: personSchema,
        response: personExportSchema,
        serve: ({ ctx, body }) => persons.export(ctx, personIn(body).person),
      }),
    )
    .post(
      "/persons/erase",
      ...route("erasePerson", "Erase a person", {
        description:
          "Deletes the person's rows, or rewrites those that accounting needs. Repeatable; recorded in the audit list. An unknown person is 404.",
        body: personSchema,
        response: personErasureSchema,
        problems: [404, 409],
        serve: ({ ctx, body }) => persons.erase(ctx, personIn(body).person),
      }),
    );
};
