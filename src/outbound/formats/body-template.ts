import { errorMessage } from "../../base/errors.ts";
import { ExactNumber, parseJson } from "../../base/json.ts";
import { isObject } from "../../base/payload.ts";
import { type Template, template } from "../../base/template.ts";

/** Makes the body of a message from its usual body. */
export type BodyTemplate = (body: Body) => unknown;

interface Body {
  readonly type: string;
}

type Filled =
  string | number | ExactNumber | boolean | null | Template | readonly Filled[] | FilledObject;
interface FilledObject {
  readonly [key: string]: Filled;
}

/**
 * Compiles a JSON document whose texts are templates, such as `{"text": "{/data/title}"}`. The templates are those of
 * provider files; their pointers are places in the usual body. A text with a value that is missing keeps the rest.
 * Throws an `Error` that says what to write instead.
 */
export function bodyTemplate(text: string): BodyTemplate {
  const document = compiled(parsed(text));
  return (body) => {
    const source = { headers: new Headers(), url: "", payload: () => body };
    return filled(
      document,
      (one) => one.render({ source, event: body.type, type: body.type, decimals: {} }).text,
    );
  };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`The template is not JSON: ${errorMessage(error)}`, { cause: error });
  }
}

function compiled(value: unknown): Filled {
  if (typeof value === "string") return template(value, "exact");
  if (Array.isArray(value)) return value.map(compiled);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, compiled(part)]));
  }
  // Guarantee: JSON has no other values.
  return value as number | ExactNumber | boolean | null;
}

function filled(value: Filled, text: (one: Template) => string): unknown {
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  if (isTemplate(value)) return text(value);
  if (Array.isArray(value)) return value.map((part: Filled) => filled(part, text));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]: [string, Filled]) => [key, filled(part, text)]),
  );
}

const isTemplate = (value: object): value is Template =>
  "render" in value && typeof value.render === "function";
