import { nextTurn } from "../../base/own-turn.ts";
import { readProviderFile } from "../providers/files/provider-file.ts";
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
export async function catalogueTexts(): Promise<Readonly<Record<string, string>>> {
  return (await import("../providers/files/catalogue-files.ts")).catalogueFiles;
}

/** Reads all files of the catalogue. Lets other requests run between files. */
export async function readCatalogue(): Promise<Catalogue> {
  const data: CatalogueEntry[] = [];
  for (const [name, text] of Object.entries(await catalogueTexts())) {
    data.push(entryOf(name, text));
    await nextTurn();
  }
  const { compare } = new Intl.Collator("en");
  return { data: data.toSorted((one, other) => compare(one.displayName, other.displayName)) };
}

function entryOf(name: string, text: string): CatalogueEntry {
  const file = readProviderFile(`${name}.yaml`, text);
  const { displayName, signature, samples } = file;
  return {
    name,
    displayName,
    signature: schemeName(signature),
    secretKind: secretKindOf(signature),
    ...textsOf(file),
    samples: Object.keys(samples),
  };
}

type Texts = Pick<CatalogueEntry, "secretPrefix" | "setUp" | "docs" | "checkedWith">;

/** What people read about a provider. */
export function textsOf(
  provider: Pick<Provider, "secretPrefix" | "setUp" | "docs" | "checkedWith">,
): Texts {
  const { secretPrefix = null, setUp = null, docs = null, checkedWith = null } = provider;
  return { secretPrefix, setUp, docs, checkedWith };
}
