import { isName, nameRule } from "../../base/name.ts";
import { plainProgramName, programName } from "../../base/program-name.ts";
import { providerIdPattern } from "../../inbound/providers/files/folder.ts";

import { messageOf } from "./errors.ts";
import { UsageError } from "./output.ts";

/** Help text that shows how a command is used. Each line begins with `skyhook`. */
export function example(...lines: readonly string[]): string {
  const commands = lines.map((line) => {
    const name = /skyhook (?:--)?demo/.test(line) ? plainProgramName : programName;
    return `  $ ${line.replace("skyhook", name)}`;
  });
  return `\n${lines.length === 1 ? "Example" : "Examples"}:\n${commands.join("\n")}`;
}

/** The help of an option: the first sentence of a description in lower case, without its full stop and backticks. */
export function helpOf(description: string): string {
  const [sentence = ""] = description.split(/\.(?: |$)/);
  return (sentence.charAt(0).toLowerCase() + sentence.slice(1)).replaceAll("`", "'");
}

/** Turns a parser into one for Commander, which prints the error's message and exits with code 2. */
export function argument<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgument(messageOf(error));
    }
  };
}

/** Commander knows its own error by this code. Importing its class would cost `serve` 15 ms at the start. */
class InvalidArgument extends Error {
  readonly code = "commander.invalidArgument";
}

const maxLineLength = 500;

/** Text for a list: one line that shows something. */
export function parseLine(text: string): string {
  const line = text.trim();
  if (isName(line, maxLineLength)) return line;
  throw new Error(`Write ${nameRule(maxLineLength)}.`);
}

/** A parser of whole numbers from 1. */
export function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
    throw new Error(`Write a whole number from 1 to ${most}.`);
  };
}

export function parseProviderId(text: string): string {
  if (providerIdPattern.test(text)) return text;
  throw new Error("Write lower-case letters, digits and _, beginning with a letter.");
}

/** Commander's parser for an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** Headers from lines like `name: value`. */
export function parseHeaders(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const [, name = "", value = ""] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*)$/.exec(line.trim()) ?? [];
    try {
      headers.append(name, value);
    } catch {
      throw new UsageError(`Write a header as "name: value", not "${line}"`);
    }
  }
  return headers;
}
