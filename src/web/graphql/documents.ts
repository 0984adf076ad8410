import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import type { Plugin } from "graphql-yoga";

import { ByteCache } from "./byte-cache.ts";
import { limitErrors, limits, overLimit } from "./limits.ts";
import { withoutValues } from "./without-values.ts";

/** Memory for parsed documents, valid or not. */
const maxDocumentBytes = 16 * 1024 * 1024;
/** Measured: a parsed document takes 360 to 400 bytes per token. */
const bytesPerToken = 500;

/** A cache for graphql-yoga: of documents only. `useDocuments` remembers which are valid. */
export function documentCache() {
  const documents = new ByteCache<string, DocumentNode>(maxDocumentBytes);
  return {
    // Syntax errors are not cached: finding them again is cheap.
    errorCache: { get: () => undefined, set: () => {} },
    validationCache: false,
    documentCache: {
      get: (text: string) => documents.get(text),
      set(text: string, document: DocumentNode) {
        const { tokenCount = limits.tokens } = document;
        documents.set(text, document, text.length * 2 + tokenCount * bytesPerToken);
      },
    },
  };
}

/** Parses documents and validates them by our limits and GraphQL's rules. Errors contain no values. */
export function useDocuments(schema: GraphQLSchema, introspection: boolean): Plugin {
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  /** Errors are not kept: they take many times the memory of their document, which the cache does not count. */
  const valid = new WeakSet<DocumentNode>();

  function check(document: DocumentNode): readonly GraphQLError[] {
    // First, in linear time: the limits bound the time of the rules.
    const exceeded = limitErrors(document);
    if (exceeded.length > 0) return exceeded;
    // Suggestions of similar names would disclose the schema.
    const options = { hideSuggestions: !introspection };
    return validate(schema, document, rules, options).map(withoutValues);
  }

  return {
    onParse({ setParseFn }) {
      setParseFn(parseDocument);
    },
    onValidate({ params: { documentAST }, setResult }) {
      const errors = valid.has(documentAST) ? [] : check(documentAST);
      if (errors.length === 0) valid.add(documentAST);
      setResult([...errors]);
    },
  };
}

/** graphql-js reports the limit as a syntax error. */
const tooManyTokens =
  /^Syntax Error: Document contains more tha[nt] \d+ tokens\. Parsing aborted\.$/;

function parseDocument(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: limits.tokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw tooManyTokens.test(error.message)
      ? overLimit("tokens", "too many tokens")
      : withoutValues(error);
  }
}
