/**
 * What an execution observes of itself. It is outside information: it is checked and scrubbed before it stands on a
 * receipt, and one observation that does not fit takes nothing else away.
 */
import { type Observed, observed as observedSchema, type Value } from '@reprise/contracts';
import type { Scrubber } from '../../ports/scrub/index.js';
import { normalValue } from '../../pure/codec/index.js';
import { check, compileSchema, type SchemaNode } from '../../pure/schema/index.js';

let shape: SchemaNode | undefined;

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
  shape ??= compileSchema(observedSchema);
  const found: Record<string, Value> = {};
  for (const name of Object.keys(observedSchema.shape)) {
    const value = fitting(thing, name, scrubber);
    if (value !== undefined) found[name] = value;
  }
  return found as Observed;
}

function fitting(thing: unknown, name: string, scrubber: Scrubber): Value | undefined {
  try {
    const given = (thing as Readonly<Record<string, unknown>> | null | undefined)?.[name];
    if (given === undefined) return undefined;
    const value = scrubber.value(normalValue(given).value);
    return check(shape as SchemaNode, { [name]: value }).ok ? value : undefined;
  } catch {
    return undefined;
  }
}
