import { Hint, type TSchema } from "@sinclair/typebox";

import { eventPlacePattern } from "../../../base/place.ts";
import { template, type TemplateMode, templateModes } from "../../../base/template.ts";
import type { Step } from "../../../base/value-problem.ts";

import { type ProviderFile, providerFileSchema } from "./provider-file.schema.ts";
import { meantSchema } from "./schema-problems.ts";

/** A template of a file, or a place that its events are made of. `path`: where the file says it. */
export interface FileText {
  readonly path: readonly Step[];
  readonly text: string;
  readonly kind: TemplateMode | "place";
}

/** The templates and places of a valid file, which its schema tells from other texts. */
export function fileTexts(file: ProviderFile): readonly FileText[] {
  const texts = textsIn(providerFileSchema, file, []);
  return texts.filter(({ path: [member] }) => member !== "retryChanges");
}

/** The places that events are made of. The templates must be valid. */
export function readPlaces(file: ProviderFile): readonly string[] {
  return fileTexts(file).flatMap(({ text, kind }) => {
    if (kind === "place") return [text];
    return kind === "exact" ? [] : template(text, kind).places;
  });
}

function textsIn(schema: TSchema, value: unknown, path: readonly Step[]): readonly FileText[] {
  const meant = meantSchema(schema, value);
  if (meant === undefined || value === null) return [];
  if (typeof value === "string") {
    const isPlace = meant["pattern"] === eventPlacePattern;
    const kind = isPlace ? "place" : templateModes.find((mode) => mode === meant[Hint]);
    return kind === undefined ? [] : [{ path, text: value, kind }];
  }
  const patterns: Readonly<Record<string, TSchema>> = meant["patternProperties"] ?? {};
  const [[pattern, entry] = []] = Object.entries(patterns);
  return Object.entries(value ?? {}).flatMap(([name, inner]) => {
    const at = [...path, name];
    const member: TSchema = meant["properties"]?.[name] ?? meant["items"] ?? entry ?? {};
    const texts = textsIn(member, inner, at);
    return pattern === eventPlacePattern
      ? [{ path: at, text: name, kind: "place" }, ...texts]
      : texts;
  });
}
