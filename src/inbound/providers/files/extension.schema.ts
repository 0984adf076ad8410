import { type Static, Type } from "@sinclair/typebox";

import { providerFileSchema } from "./provider-file.schema.ts";

const { $schema, docs, setUp, displayName, events, samples } = providerFileSchema.properties;

/** More events of a provider that Skyhook or its catalogue has. */
export const extensionSchema = Type.Object(
  {
    $schema,
    extends: Type.String({
      pattern: "^[a-z][a-z0-9_]{0,39}$",
      description:
        "The built-in provider, or that of the catalogue, whose webhooks these are. A file with its name takes its place.",
    }),
    displayName: Type.Optional(displayName),
    docs,
    setUp,
    events: {
      ...events,
      description:
        "Further events that operators are notified of: of a built-in provider by the type that Skyhook shows for the ignored event, of another by the service's name.",
    },
    samples: Type.Optional(samples),
  },
  {
    additionalProperties: false,
    $id: "ProviderExtension",
    description: "Further events of a provider that Skyhook or its catalogue has.",
  },
);

export type Extension = Static<typeof extensionSchema>;
