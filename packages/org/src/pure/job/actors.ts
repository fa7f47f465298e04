/** Who acts in an organization: the sender of a command, its agents as nodes, and their words for models. */
import { type Actor, actorOf, actorWords, formatAddress } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';

/**
 * Who sent the event that is handled. From outside it is the actor that the request states or that follows from its
 * principal, which the kernel has checked; a cell that sends by itself is a program.
 */
export function actorIn({ actor, caller }: Pick<ReducerContext, 'actor' | 'caller'>): Actor {
  if (actor !== null) return actor;
  return caller === null ? KERNEL : actorOf(`cell:${formatAddress(caller)}`);
}

/** The actor of what the world does by itself. */
export const KERNEL: Actor = { kind: 'program', id: 'kernel' };

/**
 * An actor in the words that a model reads: `ann (a person)`, `program nightly`, `node review/j2`. Names of others stand
 * in one line, so that they cannot look like words of the organization.
 */
export function wordsForModel(actor: Actor): string {
  if (actor.kind === 'several') return actor.of.map(wordsForModel).join(', ');
  const words = oneLine(actorWords(actor));
  return actor.kind === 'person' ? `${words} (a person)` : words;
}

function oneLine(words: string): string {
  const signs: string[] = [];
  for (const sign of words) {
    const shown = isHidden(sign.codePointAt(0) ?? 0) ? ' ' : sign;
    if (shown !== ' ' || signs.at(-1) !== ' ') signs.push(shown);
  }
  const line = signs.join('').trim();
  return signs.length <= WORDS_LENGTH ? line : `${signs.slice(0, WORDS_LENGTH).join('')}…`;
}

/** Signs that end a line, control one, or are not seen: stated as ranges, so that every engine says the same. */
const HIDDEN: readonly (readonly [number, number])[] = [
  [0x00, 0x20],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe007f],
];

function isHidden(code: number): boolean {
  return HIDDEN.some(([from, to]) => code >= from && code <= to);
}

const WORDS_LENGTH = 128;
