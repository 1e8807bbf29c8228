/** The name of another node, which selects it and brings it into the picture. */

import { reveal } from "../state/address";

export function NodeLink({ graph, name, slot }: { graph: string; name: string; slot?: number }) {
  return (
    <button type="button" className="ss-link ss-mono" title={name} onClick={() => reveal({ kind: "node", name }, graph)}>
      <bdi>{slot === undefined ? name : `${name}:${slot}`}</bdi>
    </button>
  );
}
