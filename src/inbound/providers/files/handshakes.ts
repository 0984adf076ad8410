import { condition, exactText, lookup } from "../../../base/place.ts";
import {
  maxEchoLength,
  type Template,
  template,
  type TemplateContext,
} from "../../../base/template.ts";
import { challengePattern, type Handshake, type HandshakeAnswer } from "../handshake.ts";

import type { ProviderFile } from "./provider-file.schema.ts";

type Declared = NonNullable<ProviderFile["handshakes"]>[number];

/** The handshakes of a file. Throws if a template is invalid. */
export function handshakesOf({ handshakes = [] }: ProviderFile): readonly Handshake[] {
  return handshakes.map(handshakeOf);
}

function handshakeOf(declared: Declared): Handshake {
  const {
    method = "POST",
    verified: isSigned = true,
    stored: isStored = false,
    when = {},
    adoptSecret,
    confirm,
  } = declared;
  const findSecret = adoptSecret === undefined ? null : lookup(adoptSecret);
  const confirmUrl =
    confirm === undefined ? null : { find: lookup(confirm.from), hosts: confirm.hosts };
  return {
    method,
    kind: isStored ? "stored" : isSigned ? "signed" : "unsigned",
    signsChallenge: !isSigned && signsAnswer(declared),
    matches: condition(when),
    answer: answerOf(declared.answer, isSigned),
    secretIn: (source) => (findSecret === null ? null : exactText(findSecret(source))),
    confirmUrl:
      confirmUrl === null
        ? null
        : (source) => ({ url: exactText(confirmUrl.find(source)), hosts: confirmUrl.hosts }),
  };
}

/** Whether the answer holds an HMAC. */
export function signsAnswer({ answer }: Pick<Declared, "answer">): boolean {
  return JSON.stringify(answer).includes("hmacSha256");
}

function answerOf(
  { status = 200, json, text, headers = {} }: Declared["answer"],
  isSigned: boolean,
): Handshake["answer"] {
  const members = Object.entries(json ?? {}).map(
    ([name, value]) =>
      [name, typeof value === "string" ? template(value, "exact") : value] as const,
  );
  const plain = text === undefined ? null : template(text, "exact");
  const headerTemplates = Object.entries(headers).map(
    ([name, value]) => [name, template(value, "exact")] as const,
  );
  return (source, secret) => {
    const context = {
      source,
      event: "",
      type: "",
      decimals: {},
      ...(secret !== null && { secret }),
      ...(!isSigned && { signable: challengePattern }),
    };
    const filled = valuesOf(members, context);
    const echoed = valuesOf(headerTemplates, context);
    const line = plain === null ? "" : valueOf(plain, context);
    if (filled === null || echoed === null || line === null) return null;
    if (!Object.values(echoed).every((value) => isHeaderValue(String(value)))) return null;
    const answer = json === undefined ? plainAnswer(line) : jsonAnswer(filled);
    return { status, headers: { ...answer.headers, ...textsOf(echoed) }, body: answer.body };
  };
}

/** What a header may hold of what a stranger sent: visible ASCII. */
function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]{1,1000}$/.test(text);
}

function jsonAnswer(members: object): Pick<HandshakeAnswer, "headers" | "body"> {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(members) };
}

/** Never HTML: the text can come from anyone. */
function plainAnswer(body: string): Pick<HandshakeAnswer, "headers" | "body"> {
  return { headers: body === "" ? {} : { "content-type": "text/plain; charset=utf-8" }, body };
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** Null if a value is missing or too long. */
function valuesOf(
  members: readonly (readonly [string, Template | number | boolean])[],
  context: TemplateContext,
): Record<string, unknown> | null {
  const values = members.map(
    ([name, value]) => [name, typeof value === "object" ? valueOf(value, context) : value] as const,
  );
  return values.some(([, value]) => value === null) ? null : Object.fromEntries(values);
}

function valueOf(compiled: Template, context: TemplateContext): string | null {
  const { text, isWhole } = compiled.render(context);
  return isWhole && text.length <= maxEchoLength ? text : null;
}
