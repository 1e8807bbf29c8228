/** The page's root: colours, texts, data and events around what is shown. */

import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app.css";

import { MantineProvider, mergeThemeOverrides } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { notifyManager, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { mayRetry } from "../api/queries";
import { useLanguage, useText } from "../i18n";
import { followAddress } from "../state/address";
import { followEvents } from "../state/events";
import { ErrorBoundary } from "./ErrorBoundary";
import { Page } from "./Page";
import { theme, variables } from "./theme";
import { TooltipHost } from "./Tooltip";

notifyManager.setScheduler(queueMicrotask); // a timer's rounds would put off what the next picture shows
const client = new QueryClient({
  defaultOptions: { queries: { retry: mayRetry, refetchOnWindowFocus: false, refetchOnReconnect: false } },
});

export function App() {
  const language = useLanguage((state) => state.language);
  const { close } = useText();
  const named = useMemo(
    () => mergeThemeOverrides(theme, { components: { Notification: { defaultProps: { closeButtonProps: { "aria-label": close } } } } }),
    [close],
  );
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  }, [language]);
  useEffect(() => followAddress(), []);
  useEffect(() => followEvents(client), []);
  return (
    <MantineProvider theme={named} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" />
        <TooltipHost />
        <ErrorBoundary>
          <Page />
        </ErrorBoundary>
      </QueryClientProvider>
    </MantineProvider>
  );
}
