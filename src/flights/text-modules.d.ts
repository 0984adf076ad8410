/** Tables of tab-separated values are imported as text, so that the compiled program carries them. */
declare module "*.tsv" {
  const text: string;
  export default text;
}
