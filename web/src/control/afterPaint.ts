/** Does something once what has just changed is on the screen. Returns how to call it off. */
export function afterPaint(does: () => void): () => void {
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(does);
  });
  return () => cancelAnimationFrame(frame);
}
