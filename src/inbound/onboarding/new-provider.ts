import { AppError, errorMessage } from "../../base/errors.ts";
import { FileError } from "../../base/file-error.ts";
import { nearest } from "../../base/nearest.ts";
import { invalid } from "../../base/validation.ts";
import { createProviderFile, ProviderFileExists, providerFrom } from "../providers/files/folder.ts";
import type { Provider } from "../providers/provider.ts";

import { loadCatalogue } from "./catalogue-entries.ts";
import type { readNewProvider } from "./provider-input.ts";

/** The id and the text of the file that a body asks for. */
export async function chosenFile({
  catalogue,
  file = "",
  id = catalogue ?? "",
}: ReturnType<typeof readNewProvider>) {
  if (catalogue === undefined) return { id, text: file, origin: "from a file" };
  const { catalogueFiles: texts } = await loadCatalogue();
  const text = Object.hasOwn(texts, catalogue) ? texts[catalogue] : undefined;
  if (text !== undefined) {
    const head = `# From the catalogue: ${catalogue}. Change it as you like.`;
    return { id, text: `${head}\n${text}`, origin: `from the catalogue: ${catalogue}` };
  }
  const near = nearest(catalogue, Object.keys(texts));
  const hint = near === null ? "GET /v1/providers/catalogue lists it." : `Did you mean ${near}?`;
  throw invalid("/catalogue", `The catalogue has no "${catalogue}". ${hint}`);
}

/** Reads the text as a provider. Throws `validation-failed` with every error and its line. */
export function providerOf(id: string, text: string): Provider {
  const name = `${id}.yaml`;
  try {
    return providerFrom(id, name, text);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const [first = "The file is invalid", ...others] = error.messages;
    throw invalid("/file", first, ...others);
  }
}

/** Stores the file and returns its path. Throws `validation-failed` if it exists, and `unavailable`. */
export function storeFile(folder: string, id: string, text: string): string {
  try {
    return createProviderFile(folder, id, text);
  } catch (error) {
    if (!(error instanceof ProviderFileExists)) throw notWritable("PROVIDERS_DIR", error);
    throw invalid("/id", `${error.path} exists. Choose another name, or remove the file.`);
  }
}

export function notWritable(setting: string, error: unknown): AppError {
  const reason = errorMessage(error).split(",", 1)[0];
  const detail = `The folder of ${setting} cannot be written (${reason}), so nothing was changed. Make it writable for the server, or add the file where the folder comes from and send SIGHUP.`;
  return unavailable(detail, error);
}

const retryAfterSeconds = 60;

export function unavailable(detail: string, cause: unknown): AppError {
  return new AppError("unavailable", detail, { retryAfterSeconds, cause });
}
