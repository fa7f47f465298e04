/** The policy rules that follow from declared senders, so that no part and no app writes them by hand. */
import type { PolicyRule } from '@reprise/contracts';
import type { EventDefinition, ReducerDefinition } from './reducer.js';
import type { KeyPart, Who } from './senders.js';

/**
 * The policy rules that let declared senders reach the cells of these reducers. Cells that kinship does not connect need
 * one; whether a sender may send this very event is the declaration's matter. No adapter reaches a reducer that declares
 * the senders of all its events and `by.adapter` for none.
 *
 * @example senderRules([parcel]) // [{ send: 'shop/Parcel@1/*', who: 'adapter:*', decision: 'deny' }, …]
 */
export function senderRules(reducers: readonly ReducerDefinition[]): readonly PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const { name, events } of reducers) {
    for (const rule of rulesOf(name, [...events])) rules.set(JSON.stringify(rule), rule);
  }
  return [...rules.values()];
}

function rulesOf(reducer: string, all: readonly (readonly [string, EventDefinition])[]): readonly PolicyRule[] {
  const events = all.filter(([name]) => !name.startsWith('sys/')).map(([, event]) => event);
  const senders = events.flatMap(({ from = [] }) => from);
  if (senders.length === 0) return [];
  const send = `${reducer}/*`;
  const isDeclared = events.every(({ from }) => from !== undefined);
  const isOpen = senders.every(({ form }) => form === 'any'); // the gate alone judges: nothing follows from it
  const closed = isDeclared && !isOpen && !senders.some(({ form }) => form === 'adapter');
  const allowed = [...new Set(senders.flatMap(patternOf))].sort();
  return [
    ...(closed ? [{ send, who: 'adapter:*', decision: 'deny' } as const] : []),
    ...allowed.map((who) => ({ send, who, decision: 'allow' }) as const),
  ];
}

/** The cells that a form names by a reducer, as a pattern of principals; none for what kinship or the gate decides. */
function patternOf(who: Who): readonly string[] {
  return who.form === 'cell' || who.form === 'row' ? [`cell:${who.reducer}/${keyPattern(who.key)}`] : [];
}

/** The fixed beginning of a key and a star; the whole key where all of it is fixed. */
function keyPattern(key: readonly KeyPart[]): string {
  const end = key.findIndex((part) => typeof part !== 'string');
  return end < 0 ? key.join('') : `${key.slice(0, end).join('')}*`;
}
