import { readCatalogueFolder } from "./catalogue-folder.ts" with { type: "macro" };

/**
 * Provider files for real services, by name. `skyhook provider add` writes one into `PROVIDERS_DIR`, where it can be
 * changed. Each was checked against what its `checkedWith` says.
 */
export const catalogueFiles: Readonly<Record<string, string>> = readCatalogueFolder();
