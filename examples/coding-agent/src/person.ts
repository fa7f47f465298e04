/** The person at this program, and the rules that decide in their place, as the journal names them. */
import type { Actor, Principal } from 'reprise';
import { describePattern, type Pattern } from './approvals/patterns.js';

/** The person at this program: who sends its messages, and who decides at its screen. */
export const PERSON: { readonly as: Principal } = { as: 'human:you' };

/** The longest name of a rule, in characters. */
const RULE_NAME_MAX = 200;

/** A pattern that the person allowed always: it decides with the rights of the person, and never as the person. */
export function ruleOf(pattern: Pattern): { readonly as: Principal; readonly actor: Actor } {
  const id = `always:${[...describePattern(pattern)].slice(0, RULE_NAME_MAX).join('')}`;
  return { ...PERSON, actor: { kind: 'rule', id, granted_by: 'you' } };
}

/** Opening and changing conversations: the program does it, not the person. */
export const DESK: { readonly actor: Actor } = { actor: { kind: 'program', id: 'coding-agent' } };

/** The conversations that wait while another one is open, and what to do about them; nothing without any. */
export function pausedLines(paused: readonly string[]): readonly string[] {
  return paused.map(
    (key) =>
      `Conversation ${key} is not over. It is paused: it calls no model and asks nothing. To go on with it, or to stop it: --conversation ${key}`,
  );
}

/** A task without a person at a terminal: its message and its decisions are those of a program. */
export const PRINT: { readonly actor: Actor } = { actor: { kind: 'program', id: 'coding-agent --print' } };
