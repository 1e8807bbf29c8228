/** Why there is nothing to see, in one sentence, and what can be done about it. */

import { Button } from "@mantine/core";
import { errorText } from "../details/format";
import { useText } from "../i18n";

export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const text = useText();
  return (
    <div className="ss-tensor-note" role="alert">
      <p>{errorText(error, text)}</p>
      {onRetry && <Button size="compact-xs" variant="default" onClick={onRetry}>{text.tensor.retry}</Button>}
    </div>
  );
}

export function Note({ children }: { children: string }) {
  return <div className="ss-tensor-note" role="status">{children}</div>;
}
