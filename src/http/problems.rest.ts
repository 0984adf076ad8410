import { Elysia } from "elysia";

import { AppError, type ErrorCode } from "../errors.ts";

import { problems } from "./errors.ts";

/** A short page for each error code, where the `type` of a problem leads (RFC 9457 section 3.1.1). */
export const problemsRest = () =>
  new Elysia({ name: "problems" }).get("/problems/:code", ({ params }) => {
    if (!isCode(params.code))
      throw new AppError("not-found", "There is no error code of this name");
    const { status, title, explanation } = problems[params.code];
    return new Response(`${title} (${params.code}, HTTP ${status})\n\n${explanation}\n`, {
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
  });

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(problems, text);
}
