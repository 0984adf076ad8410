import { Elysia } from "elysia";

import { AppError } from "../errors.ts";

import { isErrorCode, problems } from "./errors.ts";
import { failureReferences } from "./problem.schema.ts";

/** A short page for each error code, where the `type` of a problem leads (RFC 9457 section 3.1.1). */
export const problemsRest = () =>
  new Elysia({ name: "problems" }).get(
    "/problems/:code",
    ({ params }) => {
      if (!isErrorCode(params.code))
        throw new AppError("not-found", "There is no error code of this name");
      const { status, title, explanation } = problems[params.code];
      return new Response(`${title} (${params.code}, HTTP ${status})\n\n${explanation}\n`, {
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
    },
    {
      detail: {
        operationId: "explainProblem",
        tags: ["Service"],
        summary: "Read what an error means",
        parameters: [
          {
            name: "code",
            in: "path",
            required: true,
            description: "The `code` of a problem.",
            schema: { type: "string" },
            example: "no-seats",
          },
        ],
        responses: {
          200: {
            description: "A few lines.",
            content: { "text/plain": { schema: { type: "string" } } },
          },
          ...failureReferences(404),
        },
      },
    },
  );
