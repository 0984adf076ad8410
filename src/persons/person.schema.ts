import { Type } from "@sinclair/typebox";

import {
  count,
  flag,
  instant,
  listOf,
  mapOf,
  nullable,
  resource,
  text,
  word,
} from "../web/schema.ts";

const namedRowSchema = resource("NamedRow", "A row with a text that names the person.", {
  table: text("The table.", "events"),
  id: text("The row's id.", "evt_019377b07d4070008000000000000001"),
  fields: listOf(
    Type.String(),
    "The fields that do, if they are known; `body` is the webhook as sent.",
  ),
  by: word(["email", "id", "name"], "What they contain. A name alone may be another person's."),
});

const named = listOf(namedRowSchema, "Events that name the person. Erasing does not change them.");

const row = mapOf(Type.Unknown(), "The fields of a row, without secrets.");

export const personExportSchema = resource("PersonExport", "What is stored about a person.", {
  person: resource("Person", "Whom the e-mail address or id stands for.", {
    email: nullable(text("The e-mail address.", "ada@example.com")),
    ids: listOf(Type.String(), "What rows have as owner or actor."),
    names: listOf(Type.String(), "The names of the account and of passengers with the address."),
  }),
  exportedAt: instant("When it was read."),
  data: mapOf(listOf(row), "The rows by table. Passports are masked."),
  named,
  isComplete: flag("False if there is more: `skyhook person export` has no limit."),
});

export const personErasureSchema = resource("PersonErasure", "What erasing a person did.", {
  erased: mapOf(count("Rows."), "The number of rows that were deleted or rewritten, by table."),
  named,
  isComplete: flag("False if more events name the person."),
});

export const personSchema = Type.Object(
  {
    person: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "An e-mail address, or the id of a user.",
      errorMessage: "An e-mail address, or the id of a user",
      examples: ["ada@example.com"],
    }),
  },
  { $id: "NamePerson", description: "Names a person, in the body because URLs are logged." },
);
