/** The words behind the links of an answer, as far as one answer shows them. */
import { readLlmOutput, readText } from '@reprise/agent';
import { isRef, type Ref, type ValueMap } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { unlessErased } from '@reprise/org';

/** The characters of one result in a list, of all results of one answer, and of one piece of a result that is read alone. */
const SUMMARY_LENGTH = 1_000;
const ANSWER_LENGTH = 100_000;
const PIECE_LENGTH = 20_000;

/** Reads a composed text; null for one that was erased. */
export async function readComposed(content: ContentReader, ref: Ref): Promise<string | null> {
  return unlessErased(readText(content, ref), null);
}

/** The rows of results with the words of their agents. @param from the first character, where one result is read alone */
export async function withWords(
  rows: readonly ValueMap[],
  from: number | undefined,
  content: ContentReader,
): Promise<readonly ValueMap[]> {
  const share = Math.floor(ANSWER_LENGTH / Math.max(1, rows.length));
  const piece =
    from === undefined ? { from: 0, length: Math.min(SUMMARY_LENGTH, share) } : { from, length: PIECE_LENGTH };
  const worded = async ({ link, kind = 'text', ...row }: ValueMap): Promise<ValueMap> => {
    if (!isRef(link)) return row;
    return { ...row, ...pieceOf(await wordsOf({ link, kind }, content), piece), ref: link.toString() };
  };
  return Promise.all(rows.map(worded));
}

/** The words that a link of a given kind stands for; null where they were erased. */
export async function wordsOf({ link, kind }: ValueMap, content: ContentReader): Promise<string | null> {
  if (!isRef(link)) return null;
  if (kind === 'text') return readComposed(content, link);
  const output = await unlessErased(readLlmOutput(content, link), null);
  return output === null ? null : (output.text ?? '');
}

function pieceOf(words: string | null, { from, length }: { readonly from: number; readonly length: number }): ValueMap {
  if (words === null) return { summary: null };
  const letters = [...words];
  const end = from + length;
  const summary = letters.slice(from, end).join('');
  return { summary, ...(end < letters.length ? { next_from: end } : {}) };
}
