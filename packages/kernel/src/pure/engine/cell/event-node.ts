/** The schema of an event where it is sent, by a cell or by a plan: a wrong event is its sender's fault. */
import type { Address } from '@reprise/contracts';
import { type App, reducerFor } from '../../define/index.js';
import type { SchemaNode } from '../../schema/index.js';
import { Fault } from '../leaf/signals.js';

/** The schema of an event for a cell; undefined for an event that it does not take, or that only the kernel sends. */
export function eventNode(app: App, to: Address, name: string): SchemaNode | undefined {
  const node = reducerFor(app, to[0])?.events.get(name)?.node;
  return node === undefined || name.startsWith('sys/') ? undefined : node;
}

/** The fault of who sends an event that has no {@link eventNode}. */
export function unknownEvent(to: Address, name: string): Fault {
  const detail = name.startsWith('sys/') ? `only the kernel sends ${name}` : `${to[0]} takes no event ${name}`;
  return new Fault('event_unknown', detail);
}
