import { type ApiAccess, type ProviderApi, providerApi } from "./provider-api.ts";

/** GitHub's REST API. https://docs.github.com/en/rest */
export function githubApi(
  access: ApiAccess,
  options: Omit<Parameters<typeof providerApi>[1], "headers">,
): ProviderApi {
  return providerApi(access, {
    ...options,
    headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
  });
}

/** `repos/OWNER/REPO/hooks/ID` or `orgs/ORG/hooks/ID`: the path of a hook in GitHub's API. */
export const hookPath =
  /^(?:repos\/[\w.-]{1,100}\/[\w.-]{1,100}|orgs\/[\w.-]{1,100})\/hooks\/\d{1,18}$/;
