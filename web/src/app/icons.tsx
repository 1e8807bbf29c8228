/** The page's few icons, drawn on a grid of 16, in the colour of the text around. Decoration: the label says it. */

import type { ReactNode } from "react";

function icon(content: ReactNode) {
  return function Icon({ size = 16 }: { size?: number }) {
    return (
      <svg width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
        {content}
      </svg>
    );
  };
}

const SOLID = { fill: "currentColor", stroke: "none" } as const;

export const CopyIcon = icon(<><rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 3.5v-1h-8v8h1" /></>);
export const CheckIcon = icon(<path d="M3 8.5l3.2 3.2L13 4.8" />);
export const SunIcon = icon(<><circle cx="8" cy="8" r="3" /><path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9" /></>);
export const MoonIcon = icon(<path d="M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z" />);
export const HelpIcon = icon(<><circle cx="8" cy="8" r="6.2" /><path d="M6.2 6.2c.2-2.4 3.8-2.2 3.6.1-.1 1.2-1.8 1.4-1.8 2.7" /><path d="M8 11.4v.1" /></>);
export const CloseIcon = icon(<path d="M4 4l8 8M12 4l-8 8" />);
export const UpIcon = icon(<path d="M3.5 10L8 5.5l4.5 4.5" />);
export const DownIcon = icon(<path d="M3.5 6L8 10.5 12.5 6" />);
export const LeftIcon = icon(<path d="M10 3.5L5.5 8l4.5 4.5" />);
export const RightIcon = icon(<path d="M6 3.5L10.5 8 6 12.5" />);
export const CollapseIcon = icon(<path d="M4 2.5L8 6l4-3.5M4 13.5L8 10l4 3.5" />);
export const PlayIcon = icon(<path d="M4.5 2.8v10.4L13 8z" {...SOLID} />);
export const PauseIcon = icon(<path d="M4 3h2.8v10H4zM9.2 3H12v10H9.2z" {...SOLID} />);
export const StepIcon = icon(<><path d="M3.5 2.8v10.4L10 8z" {...SOLID} /><path d="M12.2 3v10" /></>);
export const StopIcon = icon(<rect x="3.5" y="3.5" width="9" height="9" rx="1" {...SOLID} />);
export const NextIcon = icon(<><circle cx="8" cy="12.5" r="1.4" {...SOLID} /><path d="M2.5 8.5C3 3 13 3 13.3 8.2M13.5 4.8l-.2 3.6-3.3-1.2" /></>);
export const PreviousIcon = icon(<><circle cx="8" cy="12.5" r="1.4" {...SOLID} /><path d="M13.5 8.5C13 3 3 3 2.7 8.2M2.5 4.8l.2 3.6L6 7.2" /></>);
export const TargetIcon = icon(<><circle cx="8" cy="8" r="4.2" /><circle cx="8" cy="8" r="1.2" {...SOLID} /><path d="M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2" /></>);
export const RunToIcon = icon(<path d="M2.5 8h7M6.8 4.8L10 8l-3.2 3.2M13.2 3v10" />);
export const TrashIcon = icon(<path d="M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.6 9h5.8l.6-9" />);
export const SearchIcon = icon(<><circle cx="7" cy="7" r="4.2" /><path d="M10.2 10.2L14 14" /></>);
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />);
export const RecheckIcon = icon(<><path d="M13.2 8a5.2 5.2 0 1 1-1.6-3.8M13.4 1.8v3h-3" /><path d="M5.6 8.2l1.8 1.8 3-3.4" /></>);
export const DotsIcon = icon(<><circle cx="8" cy="3.5" r="1.2" {...SOLID} /><circle cx="8" cy="8" r="1.2" {...SOLID} /><circle cx="8" cy="12.5" r="1.2" {...SOLID} /></>);
export const WarnIcon = icon(<><path d="M8 2.2L14.4 13.4H1.6z" /><path d="M8 6.4v3.2M8 11.5v.1" /></>);
export const EditIcon = icon(<path d="M2.8 13.2l.7-3L10.6 3l2.4 2.4-7.2 7.1z" />);
export const TicksIcon = icon(<path d="M2 4.5l1.3 1.3L6 3.2M2 11l1.3 1.3L6 9.7M8.5 4.8h5.5M8.5 11.2h5.5" />);
