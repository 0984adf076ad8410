import type { AnySchemaObject, ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";

type Json = Readonly<Record<string, unknown>>;
type Fetch = (path: string) => Promise<Response>;

interface Operation {
  readonly path: RegExp;
  readonly method: string;
  /** Of its answers, by status and media type; null where the document has no schema. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, () => ValidateFunction | null>>;
}

/** Once for all apps of a process, whose documents are the same. */
let operations: Promise<readonly Operation[]> | undefined;

/**
 * Checks a real answer of the REST API against the OpenAPI document: status, media type, and a JSON body, in which members
 * that the schema does not name are errors. Throws an `Error` that says what differs.
 */
export async function checkDocumented(
  fetch: Fetch,
  method: string,
  path: string,
  response: Response,
): Promise<void> {
  operations ??= readOperations(fetch);
  const [pathname = ""] = path.split("?", 1);
  const found = (await operations).find((one) => one.method === method && one.path.test(pathname));
  if (found === undefined) return;
  const fail = (reason: string): never => {
    throw new Error(`${method} ${pathname} answers ${response.status}, but ${reason}`);
  };
  const answer = found.answers.get(String(response.status));
  if (answer === undefined) return fail("the OpenAPI document has no such status");
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";", 1);
  if (type === "") return;
  const validator = answer.get(type);
  if (validator === undefined) return fail(`the OpenAPI document does not name ${type}`);
  if (!type.endsWith("json")) return;
  const validate = validator();
  const bytes = await response.clone().arrayBuffer();
  const isCompressed = response.headers.get("content-encoding") === "gzip";
  const body: unknown = JSON.parse(
    new TextDecoder().decode(isCompressed ? Bun.gunzipSync(bytes) : bytes),
  );
  // A handshake is answered as its service asks.
  if (pathname.startsWith("/webhooks/") && response.ok && Object(body).status === undefined) return;
  if (validate === null || validate(body)) return;
  fail(`not as in the OpenAPI document: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
}

async function readOperations(fetch: Fetch): Promise<readonly Operation[]> {
  const document = (await (await fetch("/openapi.json")).json()) as Json;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...(strict(document) as AnySchemaObject), $id: "document" });
  const pointer = (...names: readonly string[]) =>
    names
      .map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
  return Object.entries(document["paths"] as Json)
    .flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]) => {
        const { responses } = operation as { readonly responses: Json };
        const answers = Object.entries(responses).map(([status, one]) => {
          const { content = {} } = resolved(document, one) as { readonly content?: Json };
          const types = Object.entries(content).map(([type, { schema }]: [string, any]) => {
            let validate: ValidateFunction | null | undefined;
            const { $ref } = one as { readonly $ref?: string };
            const answerAt = $ref?.slice(2) ?? pointer("paths", path, method, "responses", status);
            const at = `${answerAt}/${pointer("content", type, "schema")}`;
            return [
              type,
              () =>
                (validate ??=
                  schema === undefined ? null : ajv.compile({ $ref: `document#/${at}` })),
            ] as const;
          });
          return [status, new Map(types)] as const;
        });
        return {
          path: new RegExp(
            `^${path.replaceAll(".", String.raw`\.`).replaceAll(/\{[^}]+\}/g, "[^/]+")}$`,
          ),
          method: method.toUpperCase(),
          answers: new Map(answers),
        };
      }),
    )
    .toSorted(
      (one, other) =>
        one.path.source.split("[^/]+").length - other.path.source.split("[^/]+").length,
    );
}

/** What a reference to a part of the document stands for. */
function resolved(document: Json, part: unknown): unknown {
  const { $ref } = part as { readonly $ref?: string };
  if ($ref === undefined) return part;
  return $ref
    .slice(2)
    .split("/")
    .reduce((at: unknown, name) => (at as Json)[name], document);
}

/** Objects with named members have no others. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, strict(member)]),
  );
  const isClosed =
    "properties" in members &&
    members["type"] === "object" &&
    !("additionalProperties" in members) &&
    !("allOf" in members);
  return isClosed ? { ...members, additionalProperties: false } : members;
}
