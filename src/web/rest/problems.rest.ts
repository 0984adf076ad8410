import { Elysia } from "elysia";

import { AppError, type ErrorCode } from "../../base/errors.ts";
import { prefersHtml } from "../accept.ts";
import { htmlPage, pageHeaders } from "../asset.ts";
import { markUri } from "../mark.ts";
import { isErrorCode, problems } from "../problems.ts";

import { problemReferences } from "./problem.schema.ts";

/** A short page for each error code, at the URL in `type` of a problem (RFC 9457 section 3.1.1). */
export const problemsRest = () =>
  new Elysia({ name: "problems" }).get(
    "/problems/:code",
    ({ params, request }) => {
      if (!isErrorCode(params.code))
        throw new AppError("not-found", "Unknown error code. /openapi.json lists all codes.");
      const isHtml = prefersHtml(request.headers.get("accept"));
      const headers = {
        "content-type": `text/${isHtml ? "html" : "plain"}; charset=utf-8`,
        // This replaces the `Vary: Origin` that `cors` sets, so it includes Origin.
        vary: "Accept, Origin",
        ...(isHtml && pageHeaders()),
      };
      return new Response(isHtml ? pageOf(params.code) : textOf(params.code), { headers });
    },
    {
      detail: {
        operationId: "explainProblem",
        tags: ["Service"],
        summary: "Read the explanation of an error code",
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
            description: "The explanation.",
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

/**
 * HTML for browsers. With plain text they would request a favicon, which the Content-Security-Policy of
 * plain text forbids.
 */
const pageOf = (code: ErrorCode): string =>
  htmlPage(
    headingOf(code),
    `<main class="start">
      <p><a href="../"><img src="${markUri()}" width="36" height="36" alt="Skyhook" /></a></p>
      <h1>${headingOf(code)}</h1>
      <p>${Bun.escapeHTML(problems[code].explanation).replaceAll(/`([^`]+)`/g, "<code>$1</code>")}</p>
      <p><a href="../swagger">API reference</a> · <a href="../docs">Docs</a></p>
    </main>`,
    `<link rel="stylesheet" href="../docs/page.css" />`,
  );
