/**
 * What an execution observes of itself. It is outside information: it is checked and scrubbed before it stands on a
 * receipt, and one observation that does not fit takes nothing else away.
 */
import { type Observed, observed as observedSchema, type Value } from '@reprise/contracts';
import type { Scrubber } from '../../ports/scrub/index.js';
import { normalValue } from '../../pure/codec/index.js';
import { VALUE_BYTES_MAX } from '../../pure/engine/index.js';
import { fittedForm } from '../../pure/schema/fitted-form.js';
import { check, compileSchema, type FieldNode, type SchemaNode } from '../../pure/schema/index.js';

let shape: Readonly<Record<string, FieldNode>> | undefined;

/** The observations of one execution, the latest of each field. */
export class Observations {
  #seen: Observed = {};

  constructor(private readonly scrubber: Scrubber) {}

  add(observed: unknown): void {
    this.#seen = { ...this.#seen, ...observedIn(observed, this.scrubber) };
  }

  /** Everything observed so far, as receipts hold it. */
  get all(): Observed {
    return this.#seen;
  }
}

/** The observations among the fields of an object, without those that do not fit a receipt. Never throws. */
function observedIn(thing: unknown, scrubber: Scrubber): Observed {
  shape ??= (compileSchema(observedSchema) as Extract<SchemaNode, { type: 'object' }>).fields;
  const found: Record<string, Value> = {};
  for (const [name, { node }] of Object.entries(shape)) {
    const value = fitting(thing, name, node, scrubber);
    if (value !== undefined) found[name] = value;
  }
  return found as Observed;
}

function fitting(thing: unknown, name: string, node: SchemaNode, scrubber: Scrubber): Value | undefined {
  try {
    const given = (thing as Readonly<Record<string, unknown>> | null | undefined)?.[name];
    if (given === undefined) return undefined;
    const fitted = fittedForm(node, given, VALUE_BYTES_MAX);
    const value = (fitted ?? normalValue(given)).value;
    const scrubbed = scrubber.value(value);
    const fits = (fitted !== undefined && scrubbed === value) || check(node, scrubbed).ok;
    return fits ? scrubbed : undefined;
  } catch {
    return undefined;
  }
}
