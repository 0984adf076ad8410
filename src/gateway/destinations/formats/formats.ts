import { discord } from "./discord.ts";
import type { FormatName } from "../../destination.ts";
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
