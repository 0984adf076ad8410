import { type Static, Type } from "@sinclair/typebox";

import { checkedFile } from "../../inbound/providers/files/checked-file.ts";
import { destinationFields, stateField } from "../../outbound/model/destination-fields.ts";
import { inputSchema } from "../../web/input.ts";

const destinationSchema = inputSchema(
  {
    ...destinationFields,
    url: {
      ...destinationFields.url,
      description: "The URL, or ${NAME} for a variable that holds it.",
    },
    secret: {
      ...destinationFields.secret,
      description: "For pagerduty: ${NAME} of a variable.",
    },
    headers: {
      ...destinationFields.headers,
      description: "Headers to send, as lines such as `Authorization: Bearer ${NAME}`.",
    },
    tokenUrl: {
      ...destinationFields.tokenUrl,
      description: "The URL of a token server, or ${NAME} for a variable that holds it.",
    },
    state: { ...stateField, isOptional: true, description: "Default: active." },
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
  const { destinations } = checkedFile(file, text, fileSchema, (value) =>
    value.destinations.flatMap((entry, index) => {
      const path = ["destinations", index];
      const missing = variablesIn(entry).filter((name) => (env[name] ?? "") === "");
      const messages = missing.map((name) => `The variable ${name} is not set`);
      const first = value.destinations.findIndex(({ name }) => name === entry.name);
      if (first < index) messages.push(`${entry.name} is listed twice`);
      return messages.map((message) => ({ path, message }));
    }),
  );
  return destinations.map(({ url, secret, headers, tokenUrl, ...entry }) => ({
    ...entry,
    url: withVariables(url, env),
    ...(secret !== undefined && { secret: withVariables(secret, env) }),
    ...(typeof headers === "string" && { headers: withVariables(headers, env) }),
    ...(typeof tokenUrl === "string" && { tokenUrl: withVariables(tokenUrl, env) }),
  }));
}

const variable = /\$\{([A-Z][A-Z0-9_]*)\}/g;

function variablesIn({ url, secret, headers, tokenUrl }: DestinationEntry): readonly string[] {
  const texts = [url, secret, headers, tokenUrl].filter((text) => typeof text === "string");
  return [...texts.join(" ").matchAll(variable)].map(([, name = ""]) => name);
}

function withVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(variable, (_, name: string) => env[name] ?? "");
}
