/**
 * Tooltips: `<Tooltip label="…"><button/></Tooltip>` only notes the label on its child; one host for the whole page shows
 * the one that is wanted. (A component with listeners and measurements of its own for each of them costs more time than
 * all the rest of the page.)
 */

import { cloneElement, type ReactElement, useEffect, useId, useLayoutEffect, useRef, useState } from "react";

const DELAY = 400; // milliseconds
const MARGIN = 6; // pixels to the element and to the window's borders
const HIDING = ["pointerdown", "wheel", "pointerleave", "input"]; // who types has read it

interface Tipped {
  "data-tip"?: string;
}

export function Tooltip({ label, children }: { label: string; children: ReactElement<Tipped> }) {
  return cloneElement(children, { "data-tip": label });
}

interface Shown {
  element: Element;
  text: string;
}

function tipped(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest("[data-tip]") : null;
}

export function TooltipHost() {
  const id = useId();
  const [shown, setShown] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wanted: Element | null = null;
    const hide = () => {
      clearTimeout(timer);
      wanted = null;
      setShown(null);
    };
    const want = (element: Element | null) => {
      if (element === wanted) return;
      hide();
      wanted = element;
      timer = setTimeout(() => {
        const text = element?.getAttribute("data-tip");
        if (element?.isConnected && text) setShown({ element, text });
      }, DELAY);
    };
    const over = (event: PointerEvent) => event.pointerType !== "touch" && want(tipped(event.target));
    const focus = (event: FocusEvent) => {
      if (event.target instanceof Element && event.target.matches(":focus-visible")) want(tipped(event.target));
    };
    const press = (event: KeyboardEvent) => event.key === "Escape" && hide();
    document.addEventListener("pointerover", over);
    document.addEventListener("focusin", focus);
    document.addEventListener("focusout", hide);
    document.addEventListener("keydown", press);
    for (const event of HIDING) document.addEventListener(event, hide, { passive: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerover", over);
      document.removeEventListener("focusin", focus);
      document.removeEventListener("focusout", hide);
      document.removeEventListener("keydown", press);
      for (const event of HIDING) document.removeEventListener(event, hide);
    };
  }, []);

  useLayoutEffect(() => {
    const tip = box.current;
    if (!shown || !tip) return;
    const [of, own] = [shown.element.getBoundingClientRect(), tip.getBoundingClientRect()];
    const above = of.top - own.height - MARGIN;
    const left = of.left + (of.width - own.width) / 2;
    tip.style.top = `${above >= MARGIN ? above : of.bottom + MARGIN}px`;
    tip.style.left = `${Math.max(MARGIN, Math.min(left, window.innerWidth - own.width - MARGIN))}px`;
    tip.style.visibility = "visible";
    shown.element.setAttribute("aria-describedby", id);
    return () => shown.element.removeAttribute("aria-describedby");
  }, [shown, id]);

  return shown && <div ref={box} id={id} role="tooltip" className="ss-tip">{shown.text}</div>;
}
