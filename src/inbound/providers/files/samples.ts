import { asPayload, type JsonObject } from "../../../base/payload.ts";
import type { Fresh, Sample } from "../provider.ts";

import type { ProviderFile } from "./provider-file.schema.ts";

/** The samples of a file, with new ids and times in each request. */
export function samplesOf({ samples }: ProviderFile): Readonly<Record<string, Sample>> {
  return Object.fromEntries(
    Object.entries(samples).map(([event, sample]) => [event, (fresh) => filled(sample, fresh)]),
  );
}

function filled({ headers = {}, body }: ProviderFile["samples"][string], fresh: Fresh) {
  const texts = Object.entries(headers).map(([name, value]) => [name, filledText(value, fresh)]);
  const payload: JsonObject | null = asPayload(filledValue(body, fresh));
  return { headers: Object.fromEntries(texts), body: payload ?? {} };
}

function filledValue(value: unknown, fresh: Fresh): unknown {
  if (Array.isArray(value)) return value.map((inner) => filledValue(inner, fresh));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, filledValue(inner, fresh)]);
    return Object.fromEntries(entries);
  }
  if (typeof value !== "string") return value;
  if (value === "{seconds}" || value === "{milliseconds}") return Number(filledText(value, fresh));
  return filledText(value, fresh);
}

function filledText(text: string, { id, now }: Fresh): string {
  return text
    .replaceAll("{id}", id)
    .replaceAll("{now}", now.toISOString())
    .replaceAll("{seconds}", String(Math.floor(now.getTime() / 1_000)))
    .replaceAll("{milliseconds}", String(now.getTime()));
}
