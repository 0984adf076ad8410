import { Type } from "@sinclair/typebox";

import { lazy } from "../../base/lazy.ts";
import { indexOf, search, wordsIn } from "../../web/docs/search.ts";
import { anyObject, shape, text as string } from "../output.ts";
import { tool } from "../tool.ts";

import { shortText } from "./inputs.ts";

const index = lazy(async () => indexOf((await import("../../web/docs/docs.embedded.ts")).docs));
const maxFound = 10;

export const searchDocs = tool({
  name: "search_docs",
  title: "Search the documentation",
  description:
    "Sections of Skyhook's documentation with all the words, and the whole `text` of the first. Its page is the resource `skyhook://docs/<page>.md`.",
  input: Type.Object({ q: shortText("Words to find.", "rotate secret") }),
  output: shape({ text: string, sections: Type.Array(anyObject) }),
  needs: null,
  async run(_, __, { q }) {
    const words = wordsIn(q);
    const sections = await index();
    const found = words.length === 0 ? [] : search(sections, words).slice(0, maxFound);
    // Many clients let models call tools, but not read resources.
    const text = sections.find(({ url }) => url === found[0]?.url)?.text;
    return { text, sections: found };
  },
});
