/** Colours and sizes: Mantine's, made dense, and so that all text has a contrast of 4.5 to 1 at least. */

import { createTheme, type CSSVariablesResolver } from "@mantine/core";

const FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif';

export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: 9, // white on it has a contrast of 5 to 1, in light and dark
  fontFamily: FONT,
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true, multiline: true, maw: 480, events: { hover: true, focus: true, touch: false } } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
  },
});

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#565e66",
    "--mantine-color-placeholder": "#666e76",
    "--mantine-color-error": "#b42318",
    "--mantine-primary-color-filled-hover": "#095c6b",
    "--ss-panel": "#ffffff",
    "--ss-canvas": "#f6f8fa",
    "--ss-bar": "#102a43",
    "--ss-bar-text": "#f0f4f8",
    "--ss-line": "#d5dbe1",
    "--ss-hover": "#eef4f6",
    "--ss-selected": "#cfeaf0",
    "--ss-current": "#a33f07",
    "--ss-mark": "#ffe59a",
    "--ss-bad": "#b42318",
    "--ss-link": "#0a6478",
  },
  dark: {
    "--mantine-color-dimmed": "#a9b1ba",
    "--mantine-color-placeholder": "#9aa3ad",
    "--mantine-color-error": "#ff8f85",
    "--mantine-primary-color-filled-hover": "#095c6b",
    "--mantine-color-body": "#15191e",
    "--ss-panel": "#1b2027",
    "--ss-canvas": "#12161b",
    "--ss-bar": "#0b1420",
    "--ss-bar-text": "#e6edf3",
    "--ss-line": "#343c46",
    "--ss-hover": "#232b34",
    "--ss-selected": "#164a57",
    "--ss-current": "#f7a24b",
    "--ss-mark": "#4d3c00",
    "--ss-bad": "#ff8f85",
    "--ss-link": "#5fd0e3",
  },
});
