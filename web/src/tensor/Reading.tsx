/** One line below a picture that says what is under the pointer or the keyboard's mark. */

/** Pixels, which the picture above leaves free. */
export const READING_HEIGHT = 20;

export function Reading({ id, words }: { id: string; words: string }) {
  return <output id={id} className="ss-views-reading ss-mono" style={{ height: READING_HEIGHT }}>{words}</output>;
}
