/** Texts for models: well-formed, of bounded size, never blank where a provider refuses blank texts. */
import { startOfText, startOfUtf8, wellFormed } from '@reprise/contracts';
import { toHex } from '@reprise/kernel/codec';
import { hostSha256 } from '@reprise/kernel/store';

const utf8 = new TextEncoder();

/** The start of a text, in UTF-16 code units, still well-formed. */
export function cut(text: string, unitsMax: number): string {
  return wellFormed(startOfText(text, unitsMax));
}

/** Returns the text, or the given words when the text is blank: providers refuse blank texts. */
export function unlessBlank(text: string, words: string): string {
  return text.trim() === '' ? words : text;
}

/**
 * The first bytes of a text, with a marker of how much is left out. This rule is part of `aos.agent/Prompt@1` and
 * never changes, whatever a policy for tool outputs says.
 *
 * @param bytesMax how many bytes of the text stay; the marker is added on top
 */
export function headOf(text: string, bytesMax: number): string {
  const bytes = utf8.encode(text);
  if (bytes.length <= bytesMax) return text;
  const start = startOfUtf8(bytes, bytesMax);
  const kept = new TextDecoder('utf-8', { ignoreBOM: true }).decode(start);
  return `${kept}\n...[truncated ${bytes.length - start.length} bytes; sha256:${toHex(hostSha256()(bytes))}]`;
}
