import { Elysia } from "elysia";

import { AppError, type ErrorCode } from "../../base/errors.ts";

import { htmlPage, pageHeaders } from "./asset.ts";
import { isErrorCode, problems } from "./errors.ts";
import { problemReferences } from "./problem.schema.ts";

/** A short page for each error code, where the `type` of a problem leads (RFC 9457 section 3.1.1). */
export const problemsRest = () =>
  new Elysia({ name: "problems" }).get(
    "/problems/:code",
    ({ params, request }) => {
      if (!isErrorCode(params.code))
        throw new AppError("not-found", "There is no error code of this name");
      // Browsers name it. Who takes anything is given text.
      const isHtml = (request.headers.get("accept") ?? "").includes("text/html");
      const headers = {
        "content-type": `text/${isHtml ? "html" : "plain"}; charset=utf-8`,
        // This one replaces what `cors` says, so it says that too.
        vary: "Accept, Origin",
        ...(isHtml && pageHeaders()),
      };
      return new Response(isHtml ? pageOf(params.code) : textOf(params.code), { headers });
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
            content: {
              "text/plain": { schema: { type: "string" } },
              "text/html": { schema: { type: "string" } },
            },
          },
          ...problemReferences(404),
        },
      },
    },
  );

function headingOf(code: ErrorCode): string {
  const { status, title } = problems[code];
  return `${title} (${code}, HTTP ${status})`;
}

const textOf = (code: ErrorCode): string => `${headingOf(code)}\n\n${problems[code].explanation}\n`;

/** The same for a browser, which would look for an icon beside a text, against the policy of texts. */
const pageOf = (code: ErrorCode): string =>
  htmlPage(
    headingOf(code),
    `<main>
      <h1>${headingOf(code)}</h1>
      <p>${Bun.escapeHTML(problems[code].explanation).replaceAll(/`([^`]+)`/g, "<code>$1</code>")}</p>
      <p><a href="../swagger">All of the API</a></p>
    </main>`,
  );
