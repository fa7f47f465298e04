/** What the user types to decide a pending item, and what it means. */
import type { Decision, Pending } from 'reprise';
import type { Deciding } from './gate.js';

/** What was typed about a pending item. */
export type Typed =
  | { readonly kind: 'decision'; readonly decision: Decision; readonly deciding: Deciding }
  /** Approves this call, and others like it from now on. */
  | { readonly kind: 'always' }
  /** Changes the arguments first; with the changed ones, if they were typed too. */
  | { readonly kind: 'edit'; readonly args?: unknown }
  /** Shows the whole call. */
  | { readonly kind: 'view' }
  /** The line would decide, but is invalid: print why. */
  | { readonly kind: 'wrong'; readonly why: string }
  /** The line is not an answer to the question. */
  | { readonly kind: 'other' };

/** Parses a line that was typed about an item. */
export function readTyped(text: string, item: Pending): Typed {
  return item.kind === 'question' ? readAnswer(text, item) : readDecision(text);
}

function readDecision(text: string): Typed {
  const [, word = '', rest = ''] = text.trim().match(/^(\S+?)[,:;]?(?:\s+([\s\S]*))?$/) ?? [];
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return decided({ approve: true, ...(rest === '' ? {} : { comment: rest }) }, 'approve');
    case 'a':
    case 'always':
      return rest === '' ? { kind: 'always' } : { kind: 'other' };
    case 'n':
    case 'no':
      return decided({ deny: rest === '' ? 'The person said no.' : rest }, 'settle');
    case 'e':
    case 'edit':
      return rest === '' ? { kind: 'edit' } : readEdited(rest);
    case 'v':
    case 'view':
      return rest === '' ? { kind: 'view' } : { kind: 'other' };
    default:
      return { kind: 'other' };
  }
}

/** Parses edited arguments. */
export function readEdited(text: string): Typed {
  try {
    return { kind: 'edit', args: JSON.parse(text) };
  } catch (error) {
    return { kind: 'wrong', why: `this is not JSON: ${(error as Error).message}` };
  }
}

function readAnswer(text: string, { question }: Pending): Typed {
  const given = text.trim();
  const options = question?.options;
  if (given === '') return { kind: 'other' };
  if (options === undefined) return decided({ answer: given }, 'answer');
  const chosen = options[Number(given) - 1] ?? options.find(({ id, label }) => given === id || given === label);
  return chosen === undefined
    ? { kind: 'wrong', why: `choose one of 1 to ${options.length}` }
    : decided({ answer: chosen.id }, 'settle');
}

function decided(decision: Decision, deciding: Deciding): Typed {
  return { kind: 'decision', decision, deciding };
}
