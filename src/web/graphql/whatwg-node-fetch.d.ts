// Replaces the types of @whatwg-node/fetch, which graphql-yoga imports: they add the browser's global
// types to the whole program, where they hide Bun's. See "paths" in tsconfig.json.
export const fetch: typeof globalThis.fetch;
export const Request: typeof globalThis.Request;
export const Response: typeof globalThis.Response;
export const Headers: typeof globalThis.Headers;
export const FormData: typeof globalThis.FormData;
export const File: typeof globalThis.File;
export const URL: typeof globalThis.URL;
export const URLSearchParams: typeof globalThis.URLSearchParams;
export const TextEncoder: typeof globalThis.TextEncoder;
export const TextDecoder: typeof globalThis.TextDecoder;
export const ReadableStream: typeof globalThis.ReadableStream;
export const createFetch: () => unknown;
