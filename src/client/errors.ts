/** One field or parameter at fault. */
export interface FieldError {
  readonly pointer?: string | undefined;
  readonly parameter?: string | undefined;
  readonly code: string;
  readonly detail: string;
}

/** An answer that is an error (RFC 9457). Check `code`; `message` is for people. */
export class SkyhookError extends Error {
  override readonly name = "SkyhookError";
  /** 0 without an answer. */
  readonly status: number;
  /** Such as `no-seats`; `http-503` for an answer that is no problem document, `unreachable` without an answer. */
  readonly code: string;
  readonly requestId: string | null;
  /** The fields or parameters at fault; empty if there are none. */
  readonly errors: readonly FieldError[];
  /** The whole document. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    problem: Readonly<Record<string, unknown>>,
    options?: { readonly cause?: unknown },
  ) {
    const { detail, title, code, requestId, errors } = problem;
    const texts = [detail, title].filter((each) => typeof each === "string");
    super(texts[0] ?? `HTTP ${status}`, options);
    this.status = status;
    this.code = typeof code === "string" ? code : `http-${status}`;
    this.requestId = typeof requestId === "string" ? requestId : null;
    // Guarantee: the API documents the members of `errors`.
    this.errors = Array.isArray(errors) ? (errors as FieldError[]) : [];
    this.problem = problem;
  }
}

/** What openapi-fetch answers. */
interface Answer<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer. Throws a `SkyhookError` if it is an error. */
export async function data<Data>(asked: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  const { data: found, error, response } = await asked;
  if (found === undefined || found === null) throw errorOf(response.status, error);
  return found;
}

export function errorOf(status: number, body: unknown): SkyhookError {
  const isObject = typeof body === "object" && body !== null;
  return new SkyhookError(status, isObject ? { ...body } : { title: `HTTP ${status}` });
}

/** For a request without an answer. */
export function unreachable(url: string, cause: unknown): SkyhookError {
  const reason = cause instanceof Error ? (causeOf(cause) ?? cause.message) : String(cause);
  const detail = `${new URL(url).origin} cannot be reached: ${reason}`;
  return new SkyhookError(0, { code: "unreachable", detail }, { cause });
}

/** `fetch failed` of Node says nothing; its cause does. */
const causeOf = ({ cause }: Error): string | null =>
  cause instanceof Error ? cause.message : null;
