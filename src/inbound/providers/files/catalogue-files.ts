import { catalogueTexts } from "./catalogue.embedded.ts";
import type { ProviderFile } from "./provider-file.schema.ts";

/**
 * Provider files for real services, by name. `skyhook provider add` writes one into `PROVIDERS_DIR`, where it can be
 * changed. Each was checked against what its `checkedWith` says.
 */
export const catalogueFiles: Readonly<Record<string, string>> = catalogueTexts;

/** Reads the text of a file of the catalogue. Checking all, as for files of others, takes two seconds of processor time. */
export function catalogueFile(text: string): ProviderFile {
  // Guarantee: a test reads each file both ways.
  return Bun.YAML.parse(text) as ProviderFile;
}
