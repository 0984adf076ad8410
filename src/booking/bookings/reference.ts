import { nodeCrypto } from "../../base/node-crypto.ts";

/** Letters that are not mistaken for one another or for digits when read out. */
const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const length = 6;

/** Six random letters: 24⁶, about 190 million references. */
export function makeReference(): string {
  const { randomInt } = nodeCrypto();
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
