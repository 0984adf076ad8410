/** A span that a test's collector received. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** One POST that the collector received. */
interface CollectedPost {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly CollectedSpan[];
}

const accepted = () => Response.json({});

/** A collector of OTLP/HTTP in JSON, on a free port. `answer` is called for each POST, with its number from 1. */
export function testCollector(answer: (number: number) => Response | Promise<Response> = accepted) {
  const posts: CollectedPost[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const headers = Object.fromEntries(request.headers);
      const body = await request.text();
      posts.push({ path: new URL(request.url).pathname, headers, body, ...contentOf(body) });
      const gone = Promise.withResolvers<Response>();
      request.signal.addEventListener("abort", () => gone.resolve(new Response()));
      return Promise.race([answer(posts.length), gone.promise]);
    },
  });
  return {
    url: server.url.href.slice(0, -1),
    posts,
    /** All accepted spans, in order of arrival. */
    spans: () => posts.flatMap((post) => post.spans),
    stop: () => server.stop(true),
  };
}

export type TestCollector = ReturnType<typeof testCollector>;

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, "attributes"> & {
        readonly attributes: readonly KeyValue[];
      })[];
    }[];
  }[];
}

/** Throws if the body is not an `ExportTraceServiceRequest`. Protobuf is not decoded. */
function contentOf(body: string): Pick<CollectedPost, "resource" | "spans"> {
  if (!body.startsWith("{")) return { resource: {}, spans: [] };
  // Guarantee: missing parts throw below, and each test checks the content of the spans.
  const request = JSON.parse(body) as ExportRequest;
  const [only] = request.resourceSpans;
  if (only === undefined) throw new Error("The request has no resource");
  const spans = only.scopeSpans.flatMap((scope) => scope.spans);
  return {
    resource: valuesOf(only.resource.attributes),
    spans: spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes) })),
  };
}

function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
