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
import { limitFaults, limits } from "./limits.ts";
import { withoutValues } from "./without-values.ts";

/** Memory for parsed documents, known to be valid or not. */
const maxDocumentBytes = 16 * 1024 * 1024;
/** Of a parsed document, measured: its nodes and tokens take 360 to 400 bytes for each token. */
const bytesPerToken = 500;

/** For yoga's plugin that remembers documents; what is wrong with them is remembered below. */
export function documentCache() {
  const documents = new ByteCache<string, DocumentNode>(maxDocumentBytes);
  return {
    // Texts that are no GraphQL are found out again, in little time.
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

/** Parses and validates by our limits and GraphQL's rules, and repeats no value in an error. */
export function useDocuments(schema: GraphQLSchema, introspection: boolean): Plugin {
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const faults = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  function check(document: DocumentNode): readonly GraphQLError[] {
    // Linear, so before the rules, whose time the limits bound.
    const broken = limitFaults(document);
    if (broken.length > 0) return broken;
    // Where the schema is not told, neither are names that nearly fit.
    const options = { hideSuggestions: !introspection };
    return validate(schema, document, rules, options).map(withoutValues);
  }

  return {
    onParse({ setParseFn }) {
      setParseFn(parseDocument);
    },
    onValidate({ params: { documentAST }, setResult }) {
      const found = faults.get(documentAST) ?? check(documentAST);
      faults.set(documentAST, found);
      setResult([...found]);
    },
  };
}

function parseDocument(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: limits.tokens });
  } catch (error) {
    throw error instanceof GraphQLError ? withoutValues(error) : error;
  }
}
