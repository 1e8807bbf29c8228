/** What a fault of the page itself looks like: one line and a way on, never an empty window. */

import { Button, Code, Stack, Text } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { dictionaries, useLanguage } from "../i18n";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const error = this.state.error as Error | null;
    if (!error) return this.props.children;
    const text = dictionaries[useLanguage.getState().language];
    return (
      <Stack align="center" justify="center" h="100%" p="xl" role="alert">
        <Text fw={600}>{text.fault}</Text>
        <Code>{error.message}</Code>
        <Button onClick={() => location.reload()}>{text.reload}</Button>
      </Stack>
    );
  }
}
