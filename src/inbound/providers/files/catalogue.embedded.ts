import { readCatalogueFolder } from "./catalogue-folder.ts";

/** The text of each file of the folder catalogue/ by its name. The compiled program contains them. */
export const catalogueTexts = readCatalogueFolder();
