import * as graphiql from "@graphql-yoga/render-graphiql/graphiql";

import { gzipped } from "../asset.ts";

import narrow from "./playground.css" with { type: "text" };

// The files of GraphiQL. The compiled program contains them as they are served.
export const js = gzipped(graphiql.js);
export const css = gzipped(graphiql.css + narrow);
export const editorWorkerService = gzipped(graphiql.editorWorkerService);
export const jsonWorker = gzipped(graphiql.jsonWorker);
export const graphqlWorker = gzipped(graphiql.graphqlWorker);
