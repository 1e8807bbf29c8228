/** The dialogs of the actions, which come when one is opened for the first time. */

import { lazy, Suspense } from "react";
import { useEver } from "../app/useEver";
import { useActions } from "./actions";

const HelpDialog = lazy(() => import("./HelpDialog"));
const TerminateDialog = lazy(() => import("./TerminateDialog"));

export function Dialogs() {
  const { helping, asking } = useActions();
  const [wasHelping, wasAsking] = [useEver(helping), useEver(asking)];
  return (
    <Suspense>
      {wasHelping && <HelpDialog />}
      {wasAsking && <TerminateDialog />}
    </Suspense>
  );
}
