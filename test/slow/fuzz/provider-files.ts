import fc from "fast-check";

import { FileError } from "../../../src/base/file-error.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";

import { target } from "./target.ts";
import { damaged, hostileText } from "./text.ts";

const texts = Object.values(catalogueFiles);
const fileTexts = fc.oneof(
  hostileText,
  damaged(fc.constantFrom(...texts).map((text) => Buffer.from(text))).map((bytes) =>
    Buffer.from(bytes).toString(),
  ),
  fc.tuple(fc.constantFrom(...texts), fc.nat(60), hostileText).map(([text, line, inserted]) =>
    text
      .split("\n")
      .with(line % 20, inserted)
      .join("\n"),
  ),
);

/** Files that are read or refused with a line, whatever is in them. */
export const fileSyntax = target({
  name: "file-syntax",
  about: "damaged provider files: each is read, or each of its errors is one line",
  shortRuns: 300,
  cases: fileTexts,
  check(text) {
    try {
      fileProvider("any", "any.yaml", readProviderFile("any.yaml", text));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const odd = error.messages.find((message) => !/^any\.yaml:\d+: [^\n]+$/.test(message));
      if (odd !== undefined) throw new Error(`Not one line: ${odd}`, { cause: error });
    }
  },
});
