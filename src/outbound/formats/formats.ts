import { discord, renderDiscord } from "./discord.ts";
import { email } from "./email.ts";
import type { FormatInfo, Render } from "./format.ts";
import { cloudevents, json, renderCloudevents, renderJson } from "./json.ts";
import { original } from "./original.ts";
import { pagerduty, renderPagerduty } from "./pagerduty.ts";
import { renderSlack, slack } from "./slack.ts";
import { renderTeams, teams } from "./teams.ts";

/** What a destination receives. The console's page imports this list, so it stays apart from the functions. */
export const formats = {
  cloudevents,
  json,
  original,
  slack,
  discord,
  teams,
  pagerduty,
  email,
} as const;
export type FormatName = keyof typeof formats;
// Guarantee: the object has no other keys.
export const formatNames = Object.keys(formats) as readonly FormatName[];

type SentBy<Transport> = {
  [Name in FormatName]: (typeof formats)[Name]["transport"] extends Transport ? Name : never;
}[FormatName];

/** Formats that are made from the notification; `original` needs the stored request, and `email` is sent by SMTP. */
export const httpFormats: Readonly<Record<Exclude<SentBy<"http">, "original">, Render>> = {
  cloudevents: renderCloudevents,
  json: renderJson,
  slack: renderSlack,
  discord: renderDiscord,
  teams: renderTeams,
  pagerduty: renderPagerduty,
};

/** Undefined for a format that a newer version stored. */
export function formatInfo(name: string): FormatInfo | undefined {
  const known: Readonly<Record<string, FormatInfo>> = formats;
  return Object.hasOwn(known, name) ? known[name] : undefined;
}

/** Whether Skyhook makes its secret. */
export const isSigned = (name: string): boolean => formatInfo(name)?.secret === "made";

/** The secret that a user gives; null if the format takes none. */
export function givenSecretOf(name: string) {
  const secret = formatInfo(name)?.secret ?? null;
  return typeof secret === "string" ? null : secret;
}

/** Throws for a format that a newer version stored. */
export function httpFormat(name: string): Render {
  const renders: Readonly<Record<string, Render>> = httpFormats;
  const render = Object.hasOwn(renders, name) ? renders[name] : undefined;
  if (render !== undefined) return render;
  throw new Error(
    `This version of Skyhook does not know the format ${name}. Upgrade this instance.`,
  );
}
