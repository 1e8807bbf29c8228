/** The signs on the canvas's buttons. */

const PATHS = {
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  collapse: "M8 1.5V6M5.5 4 8 6.5 10.5 4M8 14.5V10M5.5 12 8 9.5l2.5 2.5M2 8h12",
  down: "M4 2.5h8M8 5v9M4.5 10.5 8 14l3.5-3.5",
  right: "M2.5 4v8M5 8h9M10.5 4.5 14 8l-3.5 3.5",
  map: "M2 3h12v10H2zM8.5 8.5h4v3h-4z",
  save: "M8 2v8M4.5 6.5 8 10l3.5-3.5M2.5 13.5h11",
  play: "M4.5 3v10l8-5z",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  target: "M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  watch: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const width = name === "dots" || name === "list" ? 2 : 1.5;
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth={width}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
