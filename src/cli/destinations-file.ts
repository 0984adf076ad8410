import { type Static, Type } from "@sinclair/typebox";

import { checkedFile } from "../inbound/providers/files/checked-file.ts";
import { destinationStates } from "../outbound/destination.ts";
import { formatNames } from "../outbound/formats/formats.ts";

const destinationSchema = Type.Object(
  {
    name: Type.String({ description: "Unique, such as deploys." }),
    format: Type.Union(
      formatNames.map((name) => Type.Literal(name)),
      { description: "Format of its messages." },
    ),
    url: Type.String({ description: "The address, or ${NAME} for a variable that holds it." }),
    filter: Type.Optional(Type.String({ description: "An expression that an event must match." })),
    orderBy: Type.Optional(Type.String({ description: "Such as event.subject." })),
    ratePerSecond: Type.Optional(Type.Integer({ description: "1 to 1000." })),
    maxConcurrent: Type.Optional(Type.Integer({ description: "1 to 64." })),
    alerts: Type.Optional(Type.Boolean({ description: "Whether it receives alerts." })),
    secret: Type.Optional(Type.String({ description: "For pagerduty: ${NAME} of a variable." })),
    state: Type.Optional(
      Type.Union(
        destinationStates.map((state) => Type.Literal(state)),
        { description: "Default: active." },
      ),
    ),
  },
  { additionalProperties: false },
);

const fileSchema = Type.Object(
  {
    destinations: Type.Array(destinationSchema, {
      maxItems: 100,
      description: "The destinations, each with name, format and url.",
    }),
  },
  { additionalProperties: false },
);

/** A destination as a file describes it, with variables replaced. */
export type DestinationEntry = Static<typeof destinationSchema>;

/** Reads a file of destinations. Throws a `FileError` that names file, line and remedy of everything wrong. */
export function readDestinationsFile(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly DestinationEntry[] {
  const { value, requireNone } = checkedFile(file, text, fileSchema);
  const { destinations } = value;
  requireNone(
    destinations.flatMap((entry, index) => {
      const path = ["destinations", index];
      const missing = variablesIn(entry).filter((name) => (env[name] ?? "") === "");
      const messages = missing.map((name) => `The variable ${name} is not set`);
      const first = destinations.findIndex(({ name }) => name === entry.name);
      if (first < index) messages.push(`${entry.name} is listed twice`);
      return messages.map((message) => ({ path, message }));
    }),
  );
  return destinations.map((entry) => ({
    ...entry,
    url: withVariables(entry.url, env),
    ...(entry.secret !== undefined && { secret: withVariables(entry.secret, env) }),
  }));
}

const variable = /\$\{([A-Z][A-Z0-9_]*)\}/g;

function variablesIn({ url, secret = "" }: DestinationEntry): readonly string[] {
  return [...`${url} ${secret}`.matchAll(variable)].map(([, name = ""]) => name);
}

function withVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(variable, (_, name: string) => env[name] ?? "");
}
