import { Type } from "@sinclair/typebox";

import { documented, text } from "../../web/schema.ts";

const start = "2026-11-21T08:00:00Z";
const end = "2026-11-21T09:00:00Z";

/** The query of `readSpan`, for at most `maxPoints` steps. */
export const spanQuery = (maxPoints: number) =>
  documented(
    Type.Object({
      from: Type.Optional(text("A time with an offset. Default: an hour before `to`.", start)),
      to: Type.Optional(text("A time with an offset. Default: now.", end)),
      step: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: 86_400,
          multipleOf: 60,
          default: 60,
          description: `Seconds per step, for at most ${maxPoints} steps.`,
        }),
      ),
    }),
  );
