/** What a project waits for, in words, and what a person can do about it. */
import { WAIT_NOUNS, wordsOfTeamWait } from '@reprise/operators/words';
import { type TeamWait, teamEndsFromOutside } from '@reprise/specialists';

/** What a project that stands still waits for, with what ends each wait. */
export function howProjectGoesOn(project: string, waits: readonly TeamWait[]): string {
  const outside = waits.filter(teamEndsFromOutside);
  const nouns = [...new Set(outside.map(({ kind }) => WAIT_NOUNS[kind]))];
  const head =
    nouns.length === 0 ? 'Nothing of the project goes on by itself' : `The project waits for ${nouns.join(' and ')}`;
  const lines = outside.map((wait) => `  ${wordsOfTeamWait(wait)}\n`);
  const hasMessage = outside.some(({ kind }) => kind === 'decision' || kind === 'input');
  const act = hasMessage ? `run MESSAGE --project ${project}` : `continue --project ${project}`;
  return `${head}. To go on:\n${lines.join('')}  reprise team ${act}\n`;
}
