import { type Command, InvalidArgumentError } from "commander";

import { messageOf } from "../failures.ts";

/** Adds to the help of a command how it is used. */
export function example(command: Command, line: string): Command {
  return command.addHelpText("after", `\nExample:\n  $ ${line}`);
}

/** A parser for Commander: what it throws is shown as a fault of the argument. */
export function argument<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(messageOf(error));
    }
  };
}
