import { type Command, Option } from "commander";

import { parseBaseUrl } from "../request.ts";
import type { SendOptions } from "../send.ts";
import type { VerifyOptions } from "../verify.ts";

import { argument, example } from "./declare.ts";

// Guarantee of the actions: see `declare` in ../cli.ts.

/** Commands that send a delivery, or look at one. */
export function declareTrying(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("send")
      .description("sign a sample delivery as its provider would, and post it")
      .argument("[provider]", "as task_tracker")
      .argument("[event]", "as task.completed")
      .option("--list", "print every provider and event there is")
      .option("--minimal", "send the event's name and an id only, not a whole payload")
      .addOption(
        new Option("--tamper <what>", "spoil it: 401 is the right answer then").choices([
          "signature",
          "body",
          "time",
        ]),
      )
      .option("--url <url>", "the server; by default the one at PORT here", argument(parseBaseUrl))
      .option(
        "--secret <secret>",
        "instead of the one configured; other users see it in the process list",
      )
      .option(
        "--id <uuid>",
        "the delivery's id; the same again, on the same day, is a duplicate",
        argument(parseUuid),
      ),
    "skyhook send task_tracker task.completed",
  ).action(async (provider?: string, event?: string, options: SendOptions = {}) => {
    const { send } = await import("../send.ts");
    await send(provider, event, options, env);
  });

  example(
    program
      .command("verify")
      .description("say whether a delivery verifies, and if not, why")
      .argument("<provider>", "as code_host")
      .requiredOption("--body <file>", "the exact bytes of the body; - for standard input")
      .option("--header <line>", "a header as 'name: value'; may be repeated", collect)
      .option("--headers-file <file>", "a file with one header a line")
      .option(
        "--secret <secret>",
        "instead of the one configured; other users see it in the process list",
      )
      .option("--at <time>", "when it came, as 2026-11-21T09:00:00Z", argument(parseTime)),
    "skyhook verify code_host --body body.json --header 'x-codehost-signature-256: sha256=…'",
  ).action(async (provider: string, options: VerifyOptions) => {
    const { verify } = await import("../verify.ts");
    await verify(provider, options, env);
  });
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) || Number.isNaN(time.getTime())) {
    throw new Error("Write a time with its offset, like 2026-11-21T09:00:00Z.");
  }
  return time;
}

function parseUuid(text: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new Error("Write a UUID, as crypto.randomUUID() makes.");
}
