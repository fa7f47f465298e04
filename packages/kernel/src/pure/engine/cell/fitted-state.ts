/** Checks a new state before it takes effect: the engine and `reduce()` share these rules. */
import { isRef, type Value } from '@reprise/contracts';
import type { ReducerDefinition } from '../../define/index.js';
import { check, childrenOf, type SchemaNode } from '../../schema/index.js';
import { Fault } from '../leaf/signals.js';

/**
 * The state with constant defaults filled in: the same object when nothing was to fill.
 *
 * @param reducer the reducer of the cell
 * @param state a canonical value
 * @throws Fault `state_invalid` when it does not fit its schema, or holds bytes under a schema that takes any value:
 *   bytes are not copied on write, so a state that holds them could change after it was committed
 */
export function fittedState(reducer: ReducerDefinition, state: Value): Value {
  const checked = check(reducer.state, state);
  if (!checked.ok) {
    throw new Fault('state_invalid', `state ${checked.path}: expected ${checked.expected}, got ${checked.actual}`);
  }
  if (takesAnyValue(reducer.state) && holdsBytes(checked.value)) {
    throw new Fault('state_invalid', 'state holds bytes; put them into the content store and keep their ref');
  }
  return checked.value;
}

const open = new WeakMap<SchemaNode, boolean>();

/** Whether a schema has a place for any value; every other schema excludes bytes by itself. */
function takesAnyValue(node: SchemaNode): boolean {
  let known = open.get(node);
  if (known === undefined) {
    known = node.type === 'value' || childrenOf(node).some(takesAnyValue);
    open.set(node, known);
  }
  return known;
}

function holdsBytes(value: Value): boolean {
  if (typeof value !== 'object' || value === null || isRef(value)) return false;
  if (value instanceof Uint8Array) return true;
  return Object.values(value).some(holdsBytes);
}
