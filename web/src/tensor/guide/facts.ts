/** What the data say, in sentences: each fact as words and links to the tensors that it names. Pure. */

import type { Real, Schemas } from "../../api/client";
import type { guideZh } from "./text";

export type Fact = Schemas["FactView"];
export type TensorLink = Schemas["TensorLink"];

/** Words, or a tensor that the sentence names. */
export type Piece = string | TensorLink;

/** What a sentence is made from. */
export interface Given {
  /** A number by name; NaN where the fact has none of it. */
  value(name: string): Real;
  /** "[3, 17]" */
  position: string;
  /** An op's or a type's name. */
  text: string;
  links: Piece[];
}

/** The sentence of a fact; null of a kind that this page does not know. */
export function sentenceOf(fact: Fact, text: Pick<typeof guideZh, "facts">): Piece[] | null {
  const known: Partial<Record<string, (given: Given) => Piece[]>> = text.facts; // a newer server may know more
  const make = known[fact.kind];
  if (!make) return null;
  return make({
    value: (name) => fact.numbers[name] ?? NaN,
    position: fact.position ? `[${fact.position.join(", ")}]` : "",
    text: fact.text,
    links: fact.links,
  });
}

/** "loss/Log-op3:0": with the innermost scope, since ops of different layers often have the same name. */
export function linkLabel({ node, slot }: TensorLink): string {
  return `${node.split("/").slice(-2).join("/")}:${slot}`;
}
