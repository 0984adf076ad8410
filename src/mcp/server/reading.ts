import {
  fromJsonSchema,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";

import { titleOf } from "../../web/docs/page.ts";

const markdown = "text/markdown";
const uriOf = (file: string) => `skyhook://docs/${file}`;

// Loaded when an agent first asks for it.
const docs = async () => (await import("../../web/docs/docs.embedded.ts")).docs;

/** The pages of the documentation, without its decision records. */
async function pageList() {
  const folder = await docs();
  const files = Object.keys(folder.pages).filter((file) => !file.includes("/"));
  return {
    resources: files.map((file) => ({
      uri: uriOf(file),
      name: file,
      title: titleOf(folder, file),
      mimeType: markdown,
    })),
  };
}

/** `what`: what the person says. */
const argumentsOf = (what: string) =>
  fromJsonSchema<{ readonly what?: string }>({
    type: "object",
    properties: { what: { type: "string", description: what, maxLength: 500 } },
  });

// Once, because a schema is compiled longer than a request takes.
const prompts = [
  {
    name: "why_did_it_not_arrive",
    title: "Why did it not arrive?",
    description: "Finds out why a message or webhook did not arrive.",
    what: "What is missing, such as: the Slack message about the deploy of 10:00.",
    text: (what: string) =>
      `Find out why this did not arrive: ${what}
1. search_events for the event; filter by provider, type, time or words.
2. If it is there: get_event shows each destination, its attempts and their errors, or the part of its filter that does not match.
3. If it is not: explain_rejection for rejected webhooks of its provider, and provider_status for silence.
4. Answer in three sentences: what happened, since when, and what a person must do. Change nothing.`,
  },
  {
    name: "what_is_wrong",
    title: "What is wrong?",
    description: "Sums up the current issues, and what to do first.",
    what: "What to look at, such as a provider, a destination or a day.",
    text: (what: string) =>
      `Sum up what is wrong with this service now. Look at: ${what}
1. overview, then list_issues.
2. For the most urgent two: get_destination, provider_status or explain_rejection.
3. Answer with one line for each issue: cause, since when, what to do. Change nothing.`,
  },
].map((prompt) => ({ ...prompt, argsSchema: argumentsOf(prompt.what) }));

/** Throws for a cursor: each list has one page, and the library would ignore it. */
export function requireNoCursor(params: { readonly cursor?: string | undefined } | undefined) {
  if (params?.cursor === undefined) return;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is one page, without cursors");
}

/** The documentation as resources, and prompts for what operators ask most. */
export function addReading(server: McpServer): void {
  const template = new ResourceTemplate(uriOf("{page}"), { list: pageList });
  const meta = { title: "Documentation", mimeType: markdown };
  const { server: protocol } = server;
  server.registerResource("docs", template, meta, async (uri, { page }) => {
    const { pages } = await docs();
    const text = Object.hasOwn(pages, String(page)) ? pages[String(page)] : undefined;
    if (text === undefined)
      throw new ResourceNotFoundError(uri.href, "No page of the docs has this name");
    return { contents: [{ uri: uri.href, mimeType: markdown, text }] };
  });
  for (const { name, title, description, argsSchema, text } of prompts) {
    server.registerPrompt(name, { title, description, argsSchema }, ({ what = "everything" }) => ({
      messages: [{ role: "user", content: { type: "text", text: text(what) } }],
    }));
  }
  protocol.setRequestHandler("resources/list", ({ params }) => {
    requireNoCursor(params);
    return pageList();
  });
  protocol.setRequestHandler("resources/templates/list", ({ params }) => {
    requireNoCursor(params);
    return { resourceTemplates: [{ name: "docs", uriTemplate: uriOf("{page}"), ...meta }] };
  });
  protocol.setRequestHandler("prompts/list", ({ params }) => {
    requireNoCursor(params);
    return {
      prompts: prompts.map(({ name, title, description, what }) => ({
        name,
        title,
        description,
        arguments: [{ name: "what", description: what, required: false }],
      })),
    };
  });
}
