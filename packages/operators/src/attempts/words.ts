/** What may have run twice, in words. */
import type { AttemptRow } from './report.js';

/** What happened to an effect, to stand behind the words for the effect itself. */
export function attemptWords(row: AttemptRow): string {
  return ATTEMPT_WORDS[row.kind](row);
}

const ATTEMPT_WORDS: Readonly<Record<AttemptRow['kind'], (row: AttemptRow) => string>> = {
  again: ({ attempts, outcome, guarantee }) =>
    `was started ${attempts} times (${guarantee})${outcome === null ? ', and has not ended' : `: ${outcome}`}`,
  unknown: () => 'has no recorded outcome: it may have happened, and is not started again',
  late: ({ outcome, reported }) =>
    `ended as ${outcome ?? 'nothing'}, and ${reported ?? 'nothing'} was reported afterwards`,
};
