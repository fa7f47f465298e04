/**
 * Text without lone surrogates: JSON can carry them, a cut can make them, and UTF-8 has no bytes for them. Each
 * becomes U+FFFD.
 */
export function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}

/** The start of a text, in UTF-16 units, still well-formed. */
export function cut(text: string, unitsMax: number): string {
  return wellFormed(text.slice(0, unitsMax));
}
