/** Outputs and inputs of a node: name, step, type, shape, value, and the change since the previous step. */

import { Button, Table } from "@mantine/core";
import { Fragment, useEffect, useState } from "react";
import type { JobView, NodeView } from "../api/client";
import type { TensorPlace } from "../api/queries";
import { useText } from "../i18n";
import { openTensor } from "../tensor/open";
import { HitLines, useHitsOf } from "../watch/HitLines";
import { shapeText } from "./format";
import { NodeLink } from "./NodeLink";
import { TensorCells } from "./TensorCells";

const FIRST = 24;

export interface TensorRow {
  key: string;
  side: "output" | "input";
  /** Where the tensor comes from, as shown. */
  name: string;
  slot: number;
  dtype: string;
  shape: number[] | null;
  isControl: boolean;
  /** Null where there is no value to ask for. */
  place: TensorPlace | null;
}

export function rowsOf(job: string, node: NodeView): TensorRow[] {
  const outputs = node.outputs.map<TensorRow>((port) => ({
    key: `output ${port.slot}`,
    side: "output",
    name: node.name,
    slot: port.slot,
    dtype: port.type.dtype,
    shape: port.type.shape,
    isControl: false,
    place: { job, graph: node.graph, node: node.name, slot: port.slot },
  }));
  const inputs = node.inputs.map<TensorRow>((port) => ({
    key: `input ${port.index} ${port.element ?? ""}`,
    side: "input",
    name: port.node,
    slot: port.slot,
    dtype: port.type.dtype,
    shape: port.type.shape,
    isControl: port.control,
    place: placeOf(job, node, port),
  }));
  return [...outputs, ...inputs];
}

/** An input is asked for as this node read it; a part of a tuple only its producer can name. */
function placeOf(job: string, node: NodeView, port: NodeView["inputs"][number]): TensorPlace | null {
  if (port.control) return null;
  if (port.element !== null) return port.node ? { job, graph: node.graph, node: port.node, slot: port.slot } : null;
  return { job, graph: node.graph, node: node.name, slot: 0, input: port.index };
}

export function TensorTable({ job, node }: { job: JobView; node: NodeView }) {
  const text = useText();
  const [all, setAll] = useState(false);
  const hits = useHitsOf(job, node.graph, node.name);
  useEffect(() => setAll(false), [node.name]);
  if (node.folded) return <p className="ss-note">{text.folded}</p>;
  const rows = rowsOf(job.id, node);
  if (rows.length === 0) return <p className="ss-note">{text.noTensors}</p>;
  const shown = all ? rows : rows.slice(0, FIRST);
  return (
    <>
      <Table className="ss-tensors" stickyHeader verticalSpacing={3} horizontalSpacing="sm" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="ss-col-side"><span className="ss-hidden">{text.input} / {text.output}</span></Table.Th>
            <Table.Th>{text.name}</Table.Th>
            <Table.Th className="ss-col-step">{text.stepOf}</Table.Th>
            <Table.Th className="ss-col-type">{text.type}</Table.Th>
            <Table.Th className="ss-col-shape">{text.shape}</Table.Th>
            <Table.Th className="ss-col-value">{text.value}</Table.Th>
            <Table.Th className="ss-col-change">{text.change}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((row, at) => (
            <Fragment key={row.key}>
              <Table.Tr data-testid={`tensor-${row.key.trim().replaceAll(" ", "-")}`}>
                <Table.Td className={shown[at - 1]?.side === row.side ? "ss-col-side ss-faint" : "ss-col-side"}>
                  {row.side === "output" ? text.output : text.input}
                </Table.Td>
                <Table.Td className="ss-col-name">
                  {row.side === "output" ? (
                    <button type="button" className="ss-link" title={row.name} onClick={() => row.place && openTensor(row.place)}>
                      <bdi>{lastPart(row.name)}:{row.slot}</bdi>
                    </button>
                  ) : row.name ? (
                    <NodeLink graph={node.graph} name={row.name} slot={row.isControl ? undefined : row.slot} />
                  ) : (
                    "–"
                  )}
                </Table.Td>
                {row.place ? (
                  <TensorCells job={job} row={row} place={row.place} onView={() => row.place && openTensor(row.place)} />
                ) : (
                  <Table.Td colSpan={5} className="ss-dimmed">
                    {row.isControl ? text.controlInput : `${row.dtype} ${shapeText(row.shape, text)}`}
                  </Table.Td>
                )}
              </Table.Tr>
              {row.side === "output" && <HitLines hits={hits.filter(({ slot }) => slot === row.slot)} columns={7} />}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
      {shown.length < rows.length && (
        <Button size="compact-xs" variant="default" m="xs" onClick={() => setAll(true)}>{text.showAllRows(rows.length)}</Button>
      )}
    </>
  );
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
