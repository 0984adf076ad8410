/** A span as it came to a test's collector. */
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

/** One post that came to it. */
export interface CollectedPost {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly CollectedSpan[];
}

/** A collector of OTLP/HTTP in JSON, on a port of its own, which answers as the test says. */
export interface TestCollector {
  readonly url: string;
  readonly posts: readonly CollectedPost[];
  /** All that it took, in the order of arrival. */
  spans(): readonly CollectedSpan[];
  stop(): Promise<void>;
}

const accepted = () => Response.json({});

/** `answer` is asked for each post, with its number from 1. */
export function testCollector(
  answer: (number: number) => Response | Promise<Response> = accepted,
): TestCollector {
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
    spans: () => posts.flatMap((post) => post.spans),
    stop: () => server.stop(true),
  };
}

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

/** Throws where the body has not the form of an `ExportTraceServiceRequest`. */
function contentOf(body: string): Pick<CollectedPost, "resource" | "spans"> {
  // Guarantee: a part that is missing throws below; what is in a span, each test says for itself.
  const request = JSON.parse(body) as ExportRequest;
  const [only] = request.resourceSpans;
  if (only === undefined) throw new Error("There is no resource");
  const spans = only.scopeSpans.flatMap((scope) => scope.spans);
  return {
    resource: valuesOf(only.resource.attributes),
    spans: spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes) })),
  };
}

function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
