import { nodeCrypto } from "../../base/node-crypto.ts";

/** The alphabet without I and O, which are easily confused with 1 and 0. */
const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const length = 6;

/** Six random letters: 24⁶, about 190 million references. */
export function makeReference(): string {
  const { randomInt } = nodeCrypto();
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
