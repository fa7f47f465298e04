/** Checks an event where it is sent, by a cell or by a plan: a wrong event is its sender's fault. */
import type { Address, Value } from '@reprise/contracts';
import { type App, reducerFor } from '../../define/index.js';
import { check } from '../../schema/index.js';
import { Fault } from '../leaf/signals.js';

/** The value of an event for a cell of this reducer, checked where it is sent: a wrong event is its sender's fault. */
export function checkedEvent(app: App, to: Address, name: string, value: Value): Value {
  if (name.startsWith('sys/')) throw new Fault('event_unknown', `only the kernel sends ${name}`);
  const node = reducerFor(app, to[0])?.events.get(name)?.node;
  if (node === undefined) throw new Fault('event_unknown', `${to[0]} takes no event ${name}`);
  const checked = check(node, value);
  if (!checked.ok)
    throw new Fault('event_invalid', `${name} ${checked.path}: expected ${checked.expected}, got ${checked.actual}`);
  return checked.value;
}
