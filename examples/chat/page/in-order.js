/** Marks that turn the direction of the text around them: embeddings, overrides and isolates. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text of a model as it was written: what would turn the direction of the page, so that other words are read than those
 * that count, is shown by its number. Letters bring their direction themselves.
 */
export function inOrder(text) {
  return text.replace(TURNS, (mark) => `‹U+${mark.charCodeAt(0).toString(16).toUpperCase()}›`);
}
