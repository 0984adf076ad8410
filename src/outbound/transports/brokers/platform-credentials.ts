import { guardedFetch } from "../../../base/guarded-fetch.ts";
import { isLoopback } from "../../../base/loopback.ts";
import { systemResolve } from "../../../base/public-address.ts";
import { headerValue, type Lent, renewed, textsIn } from "../renewed.ts";
import type { ConnectionParts, Platform } from "../transport.ts";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** The agents of ECS and EKS (docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html). */
const agents = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
/** The addresses are those of the platform, not of a destination. */
const fetchUrl = guardedFetch({ allowsPrivate: true, resolve: systemResolve });

/**
 * The credentials of a role for this server's web identity, or of its container, in the order of AWS's SDKs. `region`:
 * that of STS, unless the platform names one.
 */
export function platformCredentials({ platform, clock }: ConnectionParts, region: string) {
  return renewed(clock, "credentials of the platform", async () => {
    const file = platform["AWS_WEB_IDENTITY_TOKEN_FILE"];
    const role = platform["AWS_ROLE_ARN"];
    if (file && role) return ofWebIdentity(platform, file, role, region);
    const uri = containerUri(platform);
    if (uri !== null) return ofContainer(platform, uri);
    throw new Error(
      "the URL has no KEY:SECRET@, and neither AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set",
    );
  });
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
async function ofWebIdentity(platform: Platform, file: string, role: string, usual: string) {
  const region = platform["AWS_REGION"] || platform["AWS_DEFAULT_REGION"] || usual;
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const url = new URL(platform["AWS_ENDPOINT_URL_STS"] || `https://sts.${region}.${domain}/`);
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: platform["AWS_ROLE_SESSION_NAME"] || "skyhook",
    WebIdentityToken: await tokenIn(file),
  });
  const { ok, status, text } = await fetchUrl(url, { method: "POST", body });
  const valueOf = (name: string) =>
    headerValue(new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]);
  if (!ok) throw new Error(`${url.host} answered HTTP ${status} ${valueOf("Code")}`);
  const names = ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"];
  return lent(url, names.map(valueOf));
}

/** The platform replaces the file, so it is read each time. */
const tokenIn = async (file: string): Promise<string> => (await Bun.file(file).text()).trim();

/** Where the container's credentials are; null if the platform names no place. */
function containerUri(platform: Platform): URL | null {
  const relative = platform["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  const full = platform["AWS_CONTAINER_CREDENTIALS_FULL_URI"];
  if (!relative && !full) return null;
  const url = URL.parse(relative ? `http://${agents[0]}${relative}` : (full ?? ""));
  const isNear = url !== null && (agents.includes(url.hostname) || isLoopback(url.href));
  if (url !== null && (isNear || url.protocol === "https:")) return url;
  throw new Error(
    `AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http to this machine, ${agents.join(", ")}`,
  );
}

async function ofContainer(platform: Platform, url: URL) {
  const file = platform["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
  const given = file ? await tokenIn(file) : platform["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
  const headers = given ? { authorization: headerValue(given) } : {};
  const { ok, status, text } = await fetchUrl(url, { headers });
  if (!ok) throw new Error(`${url.host} answered HTTP ${status}`);
  return lent(url, textsIn(text, ["AccessKeyId", "SecretAccessKey", "Token", "Expiration"]));
}

function lent({ host }: URL, values: readonly string[]): Lent<AwsCredentials> {
  const [accessKeyId = "", secretAccessKey = "", sessionToken = "", expiration = ""] = values;
  const endsAtMs = Date.parse(expiration);
  if (values.includes("") || Number.isNaN(endsAtMs)) {
    throw new Error(`the answer of ${host} has no credentials`);
  }
  return { value: { accessKeyId, secretAccessKey, sessionToken }, endsAtMs };
}
