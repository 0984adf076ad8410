import { oneOrMore } from "../../../base/place.ts";
import { template, type TemplateMode } from "../../../base/template.ts";

import type { Step } from "./located.ts";
import type { EventFields, ProviderFile } from "./provider-file.schema.ts";

/** A template of a file, with its place in the file. */
export interface FileTemplate {
  readonly path: readonly Step[];
  readonly text: string;
  readonly mode: TemplateMode;
}

/** The templates that describe events. */
export function eventTemplates(file: ProviderFile): readonly FileTemplate[] {
  return [
    { path: ["event"], text: file.event, mode: "line" },
    ...fieldTemplates(file, []),
    ...Object.entries(file.events).flatMap(([name, event]) =>
      fieldTemplates(event, ["events", name]),
    ),
  ];
}

const templated = ["title", "text", "url", "actor", "subject"] as const;

function fieldTemplates(fields: EventFields, path: readonly Step[]): readonly FileTemplate[] {
  const own = templated.flatMap((name): FileTemplate[] => {
    const text = fields[name];
    return text === undefined
      ? []
      : [{ path: [...path, name], text, mode: name === "url" ? "url" : "line" }];
  });
  const data = Object.entries(fields.data ?? {}).map(([name, text]): FileTemplate => ({
    path: [...path, "data", name],
    text,
    mode: "line",
  }));
  return [...own, ...data];
}

/** The templates of answers to handshakes. */
export function answerTemplates({ handshakes = [] }: ProviderFile): readonly FileTemplate[] {
  return handshakes.flatMap(({ answer: { json = {}, text, headers = {} } }, index) => {
    const path = ["handshakes", index, "answer"] as const;
    const members = Object.entries(json).flatMap(([name, value]): FileTemplate[] =>
      typeof value === "string"
        ? [{ path: [...path, "json", name], text: value, mode: "exact" }]
        : [],
    );
    const echoed = Object.entries(headers).map(([name, value]): FileTemplate => ({
      path: [...path, "headers", name],
      text: value,
      mode: "exact",
    }));
    const plain: FileTemplate[] =
      text === undefined ? [] : [{ path: [...path, "text"], text, mode: "exact" }];
    return [...members, ...echoed, ...plain];
  });
}

/** The places that events are made of. The templates must be valid. */
export function readPlaces(file: ProviderFile): readonly string[] {
  const times = [file, ...Object.values(file.events)].flatMap((fields) => [
    ...oneOrMore(fields.occurredAt),
    ...(typeof fields.severity === "object" ? [fields.severity.from] : []),
  ]);
  const templates = eventTemplates(file).flatMap(({ text, mode }) => template(text, mode).places);
  const own = (file.own ?? []).flatMap((wanted) => Object.keys(wanted));
  return [...templates, ...times, ...own, ...oneOrMore(file.deliveryId)];
}
