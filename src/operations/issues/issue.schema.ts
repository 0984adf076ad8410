import { Type } from "@sinclair/typebox";

import { documented, text } from "../../web/schema.ts";

export const issueParams = documented(Type.Object({ id: text("The issue's id.") }));

/** The longest that an issue can be muted. */
export const maxMuteDays = 30;

export const muteSchema = Type.Object({
  until: Type.String({
    format: "date-time",
    description: `When it is shown again, at most ${maxMuteDays} days from now.`,
    examples: ["2026-12-01T08:00:00.000Z"],
  }),
});
