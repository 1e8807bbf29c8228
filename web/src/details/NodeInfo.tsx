/** Attributes of a node, and its neighbours as links. */

import type { JobView, NodeView } from "../api/client";
import { type Texts, useText } from "../i18n";
import { number } from "../i18n/numbers";
import { shapeText } from "./format";
import { NodeLink } from "./NodeLink";

const MOST = 50;

export function NodeInfo({ job, node }: { job: JobView; node: NodeView }) {
  const text = useText();
  const origin = attributesOrigin(job, node, text);
  return (
    <div className="ss-info">
      <section>
        <h3>
          {text.attributes}
          {origin && <small className="ss-dimmed" data-testid="attributes-origin"> {origin}</small>}
        </h3>
        <dl className="ss-attributes">
          {factsOf(node, text).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="ss-mono">{value}</dd>
            </div>
          ))}
          {Object.entries(node.attributes).map(([name, value]) => (
            <div key={`attribute ${name}`}>
              <dt className="ss-mono">{name}</dt>
              <dd className="ss-mono">{valueText(value, text)}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h3>{text.producers}</h3>
        <Producers node={node} />
      </section>
      <section>
        <h3>{text.consumers}</h3>
        <Consumers node={node} />
      </section>
    </div>
  );
}

/** Where the attributes come from, if they may not be those of the job's present step. */
export function attributesOrigin(
  { stepping, step }: Pick<JobView, "stepping" | "step">,
  { attributes, attributes_step: of }: Pick<NodeView, "attributes" | "attributes_step">,
  text: Texts,
): string | null {
  if (of !== null) return of === step ? null : text.attributesOfStep(of);
  return stepping === "live" && Object.keys(attributes).length > 0 ? text.attributesOfGraph : null;
}

function factsOf(node: NodeView, text: Texts): [string, string][] {
  const facts: [string, string][] = [[text.op, node.op || text.kind[node.kind]]];
  if (node.scope) facts.push([text.scope, node.scope]);
  if (node.trainable !== null) facts.push([text.kind.parameter, node.trainable ? text.trainable : text.notTrainable]);
  if (node.kind === "constant") facts.push([text.value, valueText(node.value, text)]);
  return facts;
}

/** An attribute in one line: an array by its shape and first values. */
export function valueText(value: unknown, text: Texts): string {
  if (typeof value === "object" && value !== null && "dtype" in value && "shape" in value && "values" in value) {
    const { dtype, shape, values } = value as { dtype: string; shape: number[]; values: unknown[] };
    const first = values.slice(0, 8).map((each) => valueText(each, text));
    const size = shape.reduce((product, each) => product * each, 1);
    return `${text.array(dtype, shapeText(shape, text))}: ${first.join(", ")}${size > first.length ? ", …" : ""}`;
  }
  if (Array.isArray(value)) return `[${value.map((each) => valueText(each, text)).join(", ")}]`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Producers({ node }: { node: NodeView }) {
  const text = useText();
  const seen = new Map<string, { node: string; slot: number; control: boolean }>();
  for (const port of node.inputs) if (port.node) seen.set(`${port.node}\n${port.slot}\n${port.control}`, port);
  if (seen.size === 0) return <p className="ss-dimmed">{text.none}</p>;
  const ports = [...seen.values()];
  return (
    <ul className="ss-neighbours">
      {ports.slice(0, MOST).map((port) => (
        <li key={`${port.node} ${port.slot} ${port.control}`}>
          <NodeLink graph={node.graph} name={port.node} slot={port.control ? undefined : port.slot} />
          {port.control && <small> {text.controlInput}</small>}
        </li>
      ))}
      {ports.length > MOST && <li className="ss-dimmed">{text.moreConsumers(ports.length - MOST)}</li>}
    </ul>
  );
}

function Consumers({ node }: { node: NodeView }) {
  const text = useText();
  const total = node.outputs.reduce((sum, output) => sum + output.consumer_count, 0);
  const isMany = node.outputs.length > 1;
  const rows = node.outputs.flatMap((output) => output.consumers.map((consumer) => ({ slot: output.slot, ...consumer })));
  if (total === 0) return <p className="ss-dimmed">{text.none}</p>;
  return (
    <ul className="ss-neighbours">
      {rows.slice(0, MOST).map((row) => (
        <li key={`${row.slot} ${row.node} ${row.input}`}>
          {isMany && <small>{text.output} {number(row.slot)} → </small>}
          <NodeLink graph={node.graph} name={row.node} />
        </li>
      ))}
      {total > Math.min(rows.length, MOST) && (
        <li className="ss-dimmed">{text.moreConsumers(total - Math.min(rows.length, MOST))}</li>
      )}
    </ul>
  );
}
