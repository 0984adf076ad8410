import type { FormatName } from "../destination.ts";

import { discord } from "./discord.ts";
import type { Format } from "./format.ts";
import { cloudevents, json } from "./json.ts";
import { pagerduty } from "./pagerduty.ts";
import { slack } from "./slack.ts";
import { teams } from "./teams.ts";

/** Formats that are sent by HTTP; `email` is sent by SMTP. */
export const httpFormats: Readonly<Record<Exclude<FormatName, "email">, Format>> = {
  cloudevents,
  json,
  slack,
  discord,
  teams,
  pagerduty,
};
const formatsByName: ReadonlyMap<string, Format> = new Map(Object.entries(httpFormats));

/** Throws for a format that a newer version stored. */
export function httpFormat(name: string): Format {
  const format = formatsByName.get(name);
  if (format !== undefined) return format;
  throw new Error(
    `This version of Skyhook does not know the format ${name}. Upgrade this instance.`,
  );
}
