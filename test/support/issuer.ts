import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

import { lazy } from "../../src/base/lazy.ts";

/** An OpenID provider on a free port, which signs in everybody as `subject`. */
export interface FakeIssuer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Added to the claims of the next ID tokens. */
  claims: Readonly<Record<string, unknown>>;
  /** How the next ID tokens are signed: `hidden` is a key that is not published, `secret` that of the client. */
  signsWith: "published" | "hidden" | "secret" | "nothing";
  /** The key id of the next tokens; null: none. */
  keyId: string | null;
  /** The published key. */
  readonly jwk: JWK;
  /** Replaces the responses of a path. */
  readonly overrides: Map<string, () => Response | Promise<Response>>;
  /** Signs an access token with these claims besides the usual ones. */
  issue(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** The paths of all requests; with `split`, the whole URLs of those to the other host. */
  readonly requests: string[];
  /** The tokens that were issued. */
  readonly tokens: string[];
  stop(): Promise<void>;
}

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

/** Made once, because that takes a fifth of a second. */
const keyPairs = lazy(async () => {
  const [published, hidden] = [await generateKeyPair("RS256"), await generateKeyPair("RS256")];
  const jwk = { ...(await exportJWK(published.publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  return { published, hidden, jwk };
});

/** `now`: the clock of the server under test. `split`: tokens and keys have another origin than the issuer. */
export async function startIssuer(
  now: () => number,
  hostname = "127.0.0.1",
  { split = false }: { readonly split?: boolean } = {},
): Promise<FakeIssuer> {
  const { published, hidden, jwk } = await keyPairs();
  const grants = new Map<string, Grant>();
  const clientId = "skyhook-test";
  const clientSecret = "a-secret/of+the:client";

  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  const other = split ? Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond }) : null;
  const url = `http://${hostname}:${server.port}`;
  const otherUrl = other === null ? url : `http://localhost:${other.port}`;

  async function respond(request: Request): Promise<Response> {
    const { origin, pathname, searchParams } = new URL(request.url);
    issuer.requests.push(split && origin === otherUrl ? `${origin}${pathname}` : pathname);
    const override = issuer.overrides.get(pathname);
    if (override !== undefined) return override();
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return Response.json({
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${otherUrl}/token`,
          jwks_uri: `${otherUrl}/jwks`,
          authorization_response_iss_parameter_supported: true,
        });
      case "/authorize":
        return authorize(searchParams);
      case "/token":
        return grant(request);
      case "/jwks":
        return Response.json({ keys: [jwk] });
      default:
        return new Response(null, { status: 404 });
    }
  }

  function authorize(parameters: URLSearchParams): Response {
    const named = (name: string) => parameters.get(name) ?? "";
    const isComplete =
      named("response_type") === "code" &&
      named("client_id") === clientId &&
      named("code_challenge_method") === "S256" &&
      named("scope").split(" ").includes("openid");
    if (!isComplete) return new Response("incomplete request", { status: 400 });
    const code = crypto.randomUUID();
    const redirectUri = named("redirect_uri");
    grants.set(code, { nonce: named("nonce"), challenge: named("code_challenge"), redirectUri });
    const back = new URL(redirectUri);
    const answer = { code, state: named("state"), iss: url, session_state: "unknown parameter" };
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
    return Response.redirect(back.href, 302);
  }

  async function grant(request: Request): Promise<Response> {
    // RFC 6749 section 2.3.1: both parts are form-encoded.
    const basic = request.headers.get("authorization")?.replace(/^Basic /, "") ?? "";
    const [id = "", secret = ""] = atob(basic).split(":").map(decodeURIComponent);
    if (id !== clientId || secret !== clientSecret) {
      return Response.json({ error: "invalid_client" }, { status: 401 });
    }
    const form = new URLSearchParams(await request.text());
    const code = form.get("code") ?? "";
    const granted = grants.get(code);
    grants.delete(code);
    const verifier = new Bun.CryptoHasher("sha256").update(form.get("code_verifier") ?? "");
    const isValid =
      granted !== undefined &&
      granted.challenge === verifier.digest("base64url") &&
      granted.redirectUri === form.get("redirect_uri");
    if (!isValid) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const idToken = await sign(granted.nonce);
    const accessToken = crypto.randomUUID();
    issuer.tokens.push(idToken, accessToken);
    return Response.json({
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: 300,
      id_token: idToken,
    });
  }

  const sign = (nonce: string) => signed({ nonce, ...issuer.claims });

  function signed(added: Readonly<Record<string, unknown>>): Promise<string> {
    const seconds = Math.floor(now() / 1_000);
    const usual = { iss: url, aud: clientId, sub: "ada", iat: seconds, exp: seconds + 300 };
    const claims = { ...usual, ...added };
    const token = new SignJWT(claims);
    switch (issuer.signsWith) {
      case "nothing":
        return Promise.resolve(unsigned(claims));
      case "secret":
        return token.setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(clientSecret));
      default: {
        const { privateKey } = issuer.signsWith === "hidden" ? hidden : published;
        const { keyId: kid } = issuer;
        return token
          .setProtectedHeader({ alg: "RS256", ...(kid !== null && { kid }) })
          .sign(privateKey);
      }
    }
  }

  const stop = async () => {
    await Promise.all([server.stop(true), other?.stop(true)]);
  };
  const issuer: FakeIssuer = {
    url,
    clientId,
    clientSecret,
    claims: { roles: ["operator"], email: "ada@example.com" },
    signsWith: "published",
    keyId: "k1",
    jwk,
    issue: signed,
    overrides: new Map(),
    requests: [],
    tokens: [],
    stop,
    [Symbol.asyncDispose]: stop,
  };
  return issuer;
}

function unsigned(claims: Readonly<Record<string, unknown>>): string {
  const parts = [{ alg: "none", typ: "JWT" }, claims];
  const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  return `${encoded.join(".")}.`;
}

/** The settings of a server that signs in at an issuer. */
export const issuerSettings = (
  issuer: Pick<FakeIssuer, "url" | "clientId" | "clientSecret">,
  publicUrl: string,
) => ({
  OIDC_ISSUER: issuer.url,
  OIDC_CLIENT_ID: issuer.clientId,
  OIDC_CLIENT_SECRET: issuer.clientSecret,
  PUBLIC_URL: publicUrl,
});
