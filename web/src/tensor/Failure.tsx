/** Why there is nothing to see, in one sentence, and what can be done about it. */

import { Button } from "@mantine/core";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";

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
