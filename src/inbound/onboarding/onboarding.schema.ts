import { type Static, Type } from "@sinclair/typebox";

import {
  documented,
  flag,
  instant,
  listOf,
  nullable,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { serviceCategories } from "../model/service-categories.ts";

const described = {
  displayName: text("The name for display.", "Slack"),
  signature: text("The scheme in a few words.", "HMAC-SHA256"),
  secretKind: word(
    ["shared", "public-key", "account"],
    "What the secret is. `public-key`: the service's. `account`: an account at the service, whose key is fetched.",
  ),
  secretPrefix: nullable(text("The prefix of all secrets that the service issues.", "whsec_")),
  setUp: nullable(text("How to create the webhook at the service.")),
  settings: nullable(text("The service's page on which webhooks are set up.")),
  docs: nullable(text("The service's page about its webhooks.")),
  checkedWith: nullable(text("What the scheme was checked against.")),
  samples: listOf(Type.String(), "The names of its sample events."),
};

const catalogueEntrySchema = resource("CatalogueEntry", "A service of the catalogue.", {
  name: text("Its name in the catalogue.", "slack"),
  category: nullable(word(serviceCategories, "What it is for.")),
  ...described,
});

export interface CatalogueEntry extends Static<typeof catalogueEntrySchema> {}

export const catalogueSchema = resource(
  "ProviderCatalogue",
  "The services whose provider files are in the program, by name.",
  {
    data: listOf(catalogueEntrySchema),
    publicUrl: nullable(text("With which the URLs of providers begin; null if it is not set.")),
  },
);

export interface Catalogue extends Static<typeof catalogueSchema> {}

export const providerSetupSchema = resource(
  "ProviderSetup",
  "What an admin needs to connect a service.",
  {
    provider: text("The provider's name in paths and events.", "slack"),
    ...described,
    file: nullable(text("Its provider file; null for a built-in provider.")),
    path: text("The path that the service posts to.", "/webhooks/slack"),
    url: nullable(text("`path` with PUBLIC_URL; null if that is not set.")),
    hasSecret: flag("Without a secret its webhooks get 503."),
    secretVariable: nullable(
      text("The variable that sets the secret; null if it can be changed here."),
    ),
    canTest: flag("Whether test events can be signed here."),
    verifiedAt: nullable(
      instant(),
      "When a delivery of the service last verified, test events left out; null if none did.",
    ),
  },
);

export interface ProviderSetup extends Static<typeof providerSetupSchema> {}

export const providerSetupWithSecretSchema = resource(
  "ProviderSetupWithSecret",
  "A provider's set-up, with the secret that was made.",
  {
    ...providerSetupSchema.properties,
    madeSecret: nullable(
      text("The secret, or public key, that was made; null if none was. It is not shown again."),
    ),
  },
);

export interface ProviderSetupWithSecret extends Static<typeof providerSetupWithSecretSchema> {}

export const providerParams = documented(
  Type.Object({ id: text("The provider's name.", "slack") }),
);
