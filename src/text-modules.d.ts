/** Tables of tab-separated values are imported as text, so that the compiled program carries them. */
declare module "*.tsv" {
  const text: string;
  export default text;
}

/** SQL files are imported as text, so that the compiled program carries them. */
declare module "*.sql" {
  const text: string;
  export default text;
}

/** The API page's script is imported as text, which is served to browsers. */
declare module "*/standalone.js" {
  const text: string;
  export default text;
}

/** Licences of embedded software are imported as text. */
declare module "*/LICENSE" {
  const text: string;
  export default text;
}

/** Style sheets are imported as text. */
declare module "*.css" {
  const text: string;
  export default text;
}
