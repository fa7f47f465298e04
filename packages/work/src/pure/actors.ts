/** Who acts in an organization: the sender of a command, its agents as nodes, and their words for models. */
import { type Actor, actorOf, actorWords, formatAddress } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';

/**
 * Who sent the event that is handled. From outside it is the actor that the request states or that follows from its
 * principal, which the kernel has checked; a cell that sends by itself is a program.
 */
export function actorIn({ actor, sender }: Pick<ReducerContext, 'actor' | 'sender'>): Actor {
  if (actor !== null) return actor;
  return sender === null ? KERNEL : actorOf(`cell:${formatAddress([sender[0], sender[1]])}`);
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
  const line = words.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim();
  const signs = [...line];
  return signs.length <= WORDS_LENGTH ? line : `${signs.slice(0, WORDS_LENGTH).join('')}…`;
}

const WORDS_LENGTH = 128;
