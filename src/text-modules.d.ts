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

/** Files of the API pages are imported by path: the compiled program carries them and reads them late. */
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  export default path;
}
declare module "swagger-ui-dist/swagger-ui.css" {
  const path: string;
  export default path;
}

/** Style sheets are imported as text. */
declare module "*.css" {
  const text: string;
  export default text;
}
