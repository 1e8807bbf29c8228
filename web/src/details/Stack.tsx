/** The Python stack in which a live training stands, with the local variables of the user's frames. */

import { useQuery } from "@tanstack/react-query";
import type { JobView, Schemas } from "../api/client";
import { framesQuery } from "../api/queries";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { useMoment } from "../state/job";
import { shapeText } from "./format";
import { FoldedFrames, OneFrame } from "./SourceLines";

type Frame = Schemas["StackFrameView"];

/** Whether there is a stack to see: a recorded step has none, and a training that runs does not stand. */
export function hasStack(job: JobView): boolean {
  return job.stepping === "live" && job.state === "paused" && job.connected;
}

export function Stack({ job }: { job: JobView }) {
  const text = useText();
  const { moment, isLive } = useMoment(job);
  const { data, error } = useQuery({ ...framesQuery(job.id, moment), enabled: isLive });
  if (error) return <p className="ss-note" role="alert">{errorText(error, text)}</p>;
  if (!data) return <p className="ss-note">{text.loading}</p>;
  const user = data.frames.filter((frame) => frame.user);
  const libraries = data.frames.filter((frame) => !frame.user);
  return (
    <div className="ss-source" data-testid="stack">
      <p className="ss-dimmed">{text.stackHint}</p>
      {user.map((frame, at) => (
        <div key={`${at} ${frame.file}:${frame.line}`} className="ss-stack-frame">
          <OneFrame frame={frame} />
          <Locals frame={frame} />
        </div>
      ))}
      {libraries.length > 0 && <FoldedFrames key={moment} frames={libraries} isOpen={user.length === 0} />}
    </div>
  );
}

function Locals({ frame }: { frame: Frame }) {
  const text = useText();
  if (frame.locals.length === 0) return null;
  const caption = text.localsOf(frame.function || frame.file.slice(frame.file.lastIndexOf("/") + 1));
  return (
    <table className="ss-locals" aria-label={caption}>
      <thead>
        <tr>
          <th scope="col">{text.variable}</th>
          <th scope="col">{text.type}</th>
          <th scope="col">{text.shape}</th>
          <th scope="col">{text.value}</th>
        </tr>
      </thead>
      <tbody>
        {frame.locals.map((one) => (
          <tr key={one.name}>
            <th scope="row" className="ss-mono">{one.name}</th>
            <td className="ss-mono">{one.type}</td>
            <td className="ss-mono">{one.shape === null ? "" : shapeText(one.shape, text)}</td>
            <td className="ss-mono ss-locals-value" title={one.text}>{one.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
