/** Reducers whose events are taken from outside as well as from their declared senders: to play them without their senders. */
import type { ReducerDefinition } from '@reprise/kernel';
import { by } from '@reprise/kernel/define';

/** The reducer with some of its events open to all; without names all of them. */
export function openTo(reducer: ReducerDefinition, names: readonly string[] = [...reducer.events.keys()]) {
  const events = [...reducer.events].map(([name, event]) => {
    const isOpen = names.includes(name) && !name.startsWith('sys/');
    return [name, isOpen ? { ...event, from: [by.any] } : event] as const;
  });
  return { ...reducer, events: new Map(events) };
}
