import { checkedFile } from "./checked-file.ts";
import { fileProblems } from "./file-problems.ts";
import { type ProviderFile, providerFileSchema } from "./provider-file.schema.ts";

/** Reads the text of a provider file. Throws a `FileError` that names every error. */
export function readProviderFile(name: string, text: string): ProviderFile {
  const { value, requireNone } = checkedFile(name, text, providerFileSchema);
  requireNone(fileProblems(value));
  return value;
}
