import { nextTurn } from "../../base/own-turn.ts";
import type { ProviderFile } from "../providers/files/provider-file.schema.ts";
import type { Provider } from "../providers/provider.ts";
import { schemeName } from "../signatures/scheme-name.ts";
import { hasFetchedKey, hasSharedSecret, type SignatureScheme } from "../signatures/scheme.ts";

import type { Catalogue, CatalogueEntry } from "./onboarding.schema.ts";

type SecretKind = CatalogueEntry["secretKind"];

export function secretKindOf(scheme: SignatureScheme): SecretKind {
  if (hasFetchedKey(scheme)) return "account";
  return hasSharedSecret(scheme) ? "shared" : "public-key";
}

/** The texts of the catalogue's files. Loaded on first use: a server that adds no provider does not need them. */
export const loadCatalogue = () => import("../providers/files/catalogue-files.ts");

/** Reads all files of the catalogue. Lets other requests run between files. */
export async function readCatalogue(): Promise<Catalogue["data"]> {
  const { catalogueFiles, catalogueFile } = await loadCatalogue();
  const data: CatalogueEntry[] = [];
  for (const [name, text] of Object.entries(catalogueFiles)) {
    data.push(entryOf(name, catalogueFile(text)));
    await nextTurn();
  }
  const { compare } = new Intl.Collator("en");
  return data.toSorted((one, other) => compare(one.displayName, other.displayName));
}

function entryOf(name: string, file: ProviderFile): CatalogueEntry {
  const { displayName, category = null, signature, samples } = file;
  return {
    name,
    displayName,
    category,
    signature: schemeName(signature),
    secretKind: secretKindOf(signature),
    ...textsOf(file),
    samples: Object.keys(samples),
  };
}

type TextName = "secretPrefix" | "setUp" | "settings" | "docs" | "checkedWith";

/** What people read about a provider. */
export function textsOf(provider: Pick<Provider, TextName>): Pick<CatalogueEntry, TextName> {
  const { secretPrefix = null, setUp = null, settings = null } = provider;
  const { docs = null, checkedWith = null } = provider;
  return { secretPrefix, setUp, settings, docs, checkedWith };
}
