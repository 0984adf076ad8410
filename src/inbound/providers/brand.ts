import { nearest } from "../../base/nearest.ts";

type Named = { readonly id: string; readonly displayName: string };

/** The provider that people call so: `github` is `code_host`. */
export function byBrand<Provider extends Named>(
  name: string,
  providers: readonly Provider[],
): Provider | undefined {
  return providers.find((each) => each.displayName.toLowerCase() === name.toLowerCase());
}

/** What a misspelt id or name means, as `code_host (GitHub)`; null if no provider has a similar one. */
export function meantProvider(name: string, providers: readonly Named[]): string | null {
  const ids = providers.map(({ id }) => id);
  const brands = providers.map(({ displayName }) => displayName);
  const near = nearest(name, [...ids, ...brands]);
  const found =
    near === null
      ? undefined
      : (providers.find(({ id }) => id === near) ?? byBrand(near, providers));
  if (found === undefined) return null;
  const brand = found.displayName;
  return brand.toLowerCase() === found.id ? found.id : `${found.id} (${brand})`;
}
