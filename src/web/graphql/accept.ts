export const jsonTypes = ["application/graphql-response+json", "application/json"] as const;
export type JsonType = (typeof jsonTypes)[number];

/**
 * The media types that a client takes, the best first (RFC 9110 section 12.5.1). Parameters but `q`
 * are dropped; so are types that are refused by `q=0`. No header: anything.
 */
export function acceptedTypes(header: string | null): string[] {
  if (header === null || header === "*/*") return ["*/*"];
  const parts = header.split(",").map((part) => {
    const [type = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
  });
  return parts
    .filter(({ type, quality }) => type !== "" && quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ type }) => type);
}

/**
 * The type for a JSON answer. A client that takes anything is given `application/json`, which every
 * client reads; null for one that takes neither.
 */
export function jsonTypeFor(accepted: readonly string[]): JsonType | null {
  for (const type of accepted) {
    if (type === "*/*" || type === "application/*") return "application/json";
    const found = jsonTypes.find((jsonType) => jsonType === type);
    if (found !== undefined) return found;
  }
  return null;
}
