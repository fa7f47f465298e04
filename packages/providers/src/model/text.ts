/** Texts for models: well-formed, of bounded size, never blank where a provider refuses blank texts. */
import { type SaidNote, startOfText, startOfUtf8, wellFormed } from '@reprise/contracts';
import { toHex } from '@reprise/kernel/codec';
import { hostSha256 } from '@reprise/kernel/store';

const utf8 = new TextEncoder();

/** The start of a text, in UTF-16 code units, still well-formed. */
export function cut(text: string, unitsMax: number): string {
  return wellFormed(startOfText(text, unitsMax));
}

/** Returns the text, or the given words when the text is blank: providers refuse blank texts. */
export function unlessBlank<T extends string>(text: T, words: T): T {
  return text.trim() === '' ? words : text;
}

/**
 * The first bytes of a text. This rule is part of `aos.agent/Prompt@1` and never changes, whatever a policy for tool
 * outputs says.
 *
 * @param bytesMax how many bytes of the text stay
 * @returns the beginning, and how much it is of the whole when something is left out
 */
export function startOf(
  text: string,
  bytesMax: number,
): { readonly start: string; readonly bytes: number; readonly note: SaidNote } {
  const bytes = utf8.encode(text);
  if (bytes.length <= bytesMax) return { start: text, bytes: bytes.length, note: {} };
  const kept = startOfUtf8(bytes, bytesMax);
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept);
  const shown = `${kept.length} of ${bytes.length} bytes; sha256:${toHex(hostSha256()(bytes))}`;
  return { start, bytes: kept.length, note: { shown } };
}
