/** What the user types to decide a pending item, and what it means. */
import type { Decision, Pending } from 'reprise';

/** What was typed: a decision, a request to edit the arguments first, or something else. */
export type Typed =
  | { readonly kind: 'decision'; readonly decision: Decision }
  | { readonly kind: 'edit' }
  /** The decision is invalid: print why, and ask again. */
  | { readonly kind: 'wrong'; readonly why: string }
  /** The line is not an answer to the question. */
  | { readonly kind: 'other' };

/** The possible answers, in one line. */
export function choices(item: Pending): string {
  return item.kind === 'question' ? 'your answer' : '[y]es  [n]o, and why  [a]lways  [e]dit';
}

/** Parses a line that was typed about an item. */
export function readTyped(text: string, item: Pending): Typed {
  return item.kind === 'question' ? readAnswer(text, item) : readDecision(text);
}

function readDecision(text: string): Typed {
  const [, word = '', rest = ''] = text.trim().match(/^(\S+?)[,:;]?(?:\s+([\s\S]*))?$/) ?? [];
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return decided({ approve: true, ...(rest === '' ? {} : { comment: rest }) });
    case 'a':
    case 'always':
      return rest === '' ? decided({ approve: true, remember: true }) : { kind: 'other' };
    case 'n':
    case 'no':
      return decided({ deny: rest === '' ? 'The person said no.' : rest });
    case 'e':
    case 'edit':
      return rest === '' ? { kind: 'edit' } : readEdited(rest);
    default:
      return { kind: 'other' };
  }
}

/** Parses edited arguments. */
export function readEdited(text: string): Typed {
  try {
    return decided({ approve: true, args: JSON.parse(text) });
  } catch (error) {
    return { kind: 'wrong', why: `this is not JSON: ${(error as Error).message}` };
  }
}

function readAnswer(text: string, { question }: Pending): Typed {
  const given = text.trim();
  if (given === '') return { kind: 'wrong', why: 'the answer is empty' };
  const options = question?.options;
  if (options === undefined) return decided({ answer: given });
  const chosen = options[Number(given) - 1] ?? options.find(({ id, label }) => given === id || given === label);
  return chosen === undefined
    ? { kind: 'wrong', why: `choose one of 1 to ${options.length}` }
    : decided({ answer: chosen.id });
}

function decided(decision: Decision): Typed {
  return { kind: 'decision', decision };
}
