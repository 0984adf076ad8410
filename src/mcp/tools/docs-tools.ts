import { Type } from "@sinclair/typebox";

import { lazy } from "../../base/lazy.ts";
import { indexOf, search, wordsIn } from "../../web/rest/docs/search.ts";
import { tool } from "../tool.ts";

import { shortText } from "./inputs.ts";

const index = lazy(async () => indexOf((await import("../../web/rest/docs/files.ts")).docs));
const maxFound = 10;

export const searchDocs = tool({
  name: "search_docs",
  title: "Search the documentation",
  description:
    "Sections of Skyhook's documentation with all the words. Read the page as the resource `skyhook://docs/<page>`.",
  input: Type.Object({ q: shortText("Words to find.", "rotate secret") }),
  needs: null,
  async run(_, __, { q }) {
    const words = wordsIn(q);
    const found = words.length === 0 ? [] : search(await index(), words).slice(0, maxFound);
    return { sections: found };
  },
});
