import { mediaRanges } from "../rest/accept.ts";

export const jsonTypes = ["application/graphql-response+json", "application/json"] as const;
type JsonType = (typeof jsonTypes)[number];

/**
 * The media types in an Accept header, most preferred first (RFC 9110 section 12.5.1). Parameters other
 * than `q` are ignored, types with `q=0` are left out. A missing header accepts everything.
 */
export function acceptedTypes(header: string | null): string[] {
  if (header === null || header === "*/*") return ["*/*"];
  return mediaRanges(header)
    .filter(({ type, weight }) => type !== "" && weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ type }) => type);
}

/**
 * The media type of a JSON response; null if the client accepts neither. For a wildcard it is
 * `application/json`, which every client understands.
 */
export function jsonTypeFor(accepted: readonly string[]): JsonType | null {
  for (const type of accepted) {
    if (type === "*/*" || type === "application/*") return "application/json";
    const found = jsonTypes.find((jsonType) => jsonType === type);
    if (found !== undefined) return found;
  }
  return null;
}
