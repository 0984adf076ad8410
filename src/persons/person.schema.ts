import { Type } from "@sinclair/typebox";

import { count, flag, instant, listOf, mapOf, nullable, resource, text } from "../web/schema.ts";

const row = mapOf(Type.Unknown(), "The fields of a row, without secrets.");

export const personExportSchema = resource("PersonExport", "What is stored about a person.", {
  person: resource("Person", "Whom the e-mail address or id stands for.", {
    email: nullable(text("The e-mail address.", "ada@example.com")),
    ids: listOf(Type.String(), "What rows have as owner or actor."),
  }),
  exportedAt: instant("When it was read."),
  data: mapOf(listOf(row), "The rows by table. Passports are masked."),
  isComplete: flag("False if there is more: `skyhook person export` has no limit."),
});

export const personErasureSchema = resource("PersonErasure", "What erasing a person did.", {
  erased: mapOf(count("Rows."), "The number of rows that were deleted or rewritten, by table."),
});

export const personSchema = Type.Object(
  {
    person: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "An e-mail address, or the id of a user.",
      errorMessage: "An e-mail address, or the id of a user",
      examples: ["grace@example.com"],
    }),
  },
  { $id: "NamePerson", description: "Names a person, in the body because URLs are logged." },
);
