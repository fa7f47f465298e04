/** Reads the lists that `pack.ts` writes. What it returns has the places of records; their schemas check the rest. */
import { type Ref, toHex, type Value } from '@reprise/contracts';
import { DERIVED_LAYOUTS, type Form, INGRESS_LAYOUTS, type Layout, RECEIPT_LAYOUT, STATE_PREFIX } from './layout.js';

/** The bytes hold another thing than records. Its message says what and where. */
export class Misplaced extends Error {
  /** @param record the index of the record in its frame, when one is at fault */
  constructor(
    what: string,
    readonly record?: number,
  ) {
    super(what);
  }
}

type Kinds = ReadonlyMap<Value, readonly [kind: string, layout: Layout]>;

const INGRESS = byCode(INGRESS_LAYOUTS);
const DERIVED = byCode(DERIVED_LAYOUTS);

function byCode(layouts: Readonly<Record<string, Layout>>): Kinds {
  return new Map(Object.entries(layouts).map(([kind, layout]) => [layout.code, [kind, layout] as const]));
}

/** A record whose fields have names again, not checked yet. */
export type Unchecked = Readonly<Record<string, Value>>;

/**
 * Reads the first record of a frame.
 *
 * @throws Misplaced
 */
export function unpackIngress(packed: Value | undefined): Unchecked {
  return unpackRecord(INGRESS, packed, 0);
}

/**
 * Reads a derived record.
 *
 * @param i its index in the frame
 * @throws Misplaced
 */
export function unpackDerived(packed: Value, i: number): Unchecked {
  return unpackRecord(DERIVED, packed, i);
}

/**
 * Reads which effects a frame arms: the index of a record in the frame, or an id.
 *
 * @throws Misplaced
 */
export function unpackArmed(packed: Value | undefined): (number | string)[] {
  return listIn(packed, 'the armed effects').map((armed) => (typeof armed === 'number' ? armed : digestIn(armed)));
}

/**
 * Reads the touched leaves.
 *
 * @param ingress the first record of the frame, whose effect is written as `true`
 * @throws Misplaced
 */
export function unpackLeaves(packed: Value | undefined, ingress: Unchecked): Unchecked {
  const leaves = listIn(packed, 'the touched leaves').map((leaf): Value => {
    const parts = listIn(leaf, 'a touched leaf');
    const [kind, name] = parts;
    const last = parts[parts.length - 1] ?? null;
    if (kind === 'cell' && last !== null) return [parts.slice(0, -2), unpackCell(parts[parts.length - 2], last)];
    if (kind === 'plan' && last !== null) return [parts.slice(0, -1), unpackPlan(last)];
    return [kind === 'effect' || kind === 'settled' ? [kind, effectIn(name, ingress)] : parts.slice(0, -1), last];
  });
  return { kind: 'state', leaves };
}

/** The effect of a leaf: `true` for that of the ingress, which is never written otherwise. */
function effectIn(name: Value | undefined, ingress: Unchecked): string {
  const hex = name === true ? ingress.effect : digestIn(name);
  if (typeof hex === 'string' && (name === true) === (hex === ingress.effect)) return hex;
  throw new Misplaced('`true` does not stand for the effect of the input, or its id does');
}

function unpackPlan(fields: Value): Value {
  const wait = isMap(fields) ? fields.wait : undefined;
  return Array.isArray(wait) ? { ...(fields as Unchecked), wait: wait.map(unpackWait) } : fields;
}

function unpackWait(packed: Value): Value {
  if (packed === null) return null;
  const [what, of, until = null] = listIn(packed, 'what a plan waits for') as readonly Value[];
  if (of === undefined) throw new Misplaced('a plan waits for nothing');
  return what === 'peek' ? { for: what, address: of } : { for: what as Value, emissions: of, until };
}

function unpackCell(own: Value | undefined, state: Value): Unchecked {
  if (own === undefined || !isMap(own) || !isMap(state)) throw new Misplaced('the fields of a cell are not two maps');
  const named = Object.entries(state).map(([name, change]) => [STATE_PREFIX + name, change] as const);
  return { ...own, ...Object.fromEntries(named) };
}

function unpackRecord(kinds: Kinds, packed: Value | undefined, i: number): Unchecked {
  try {
    const list = listIn(packed, 'a record');
    const [kind, layout] = kinds.get(list[0] as Value) ?? [];
    if (kind === undefined || layout === undefined) throw new Misplaced(`no record has the number ${shown(list[0])}`);
    return { kind, ...unpackFields(layout, list.slice(1)) };
  } catch (error) {
    if (!(error instanceof Misplaced)) throw error;
    throw new Misplaced(error.message, i);
  }
}

function unpackFields({ fields, optional }: Omit<Layout, 'code'>, list: readonly Value[]): Unchecked {
  if (list.length < fields.length || list.length > fields.length + 1) {
    throw new Misplaced(`a record of ${list.length} places where ${fields.length} are due`);
  }
  const values: Record<string, Value> = {};
  // The effect comes after the principal that may be its adapter, so principals are read last.
  fields.forEach(({ name, form }, i) => {
    values[name] = unpackField(form, list[i] as Value);
  });
  if (values.principal === true) values.principal = `adapter:${String(values.effect)}`;
  if (list.length > fields.length) Object.assign(values, unpackOptional(optional, list[fields.length] as Value));
  return values;
}

function unpackOptional(optional: Layout['optional'], more: Value): Unchecked {
  if (!isMap(more) || Object.keys(more).length === 0) throw new Misplaced('the optional fields are not a map');
  const values: Record<string, Value> = {};
  for (const [name, value] of Object.entries(more)) {
    const form = optional.find((field) => field.name === name)?.form;
    if (form === undefined) throw new Misplaced(`no optional field has the name ${shown(name)}`);
    values[name] = unpackField(form, value);
  }
  return values;
}

function unpackField(form: Form, value: Value): Value {
  switch (form) {
    case 'plain':
    case 'principal':
      return value;
    case 'digest':
      return digestIn(value);
    case 'digests':
      return listIn(value, 'digests').map(digestIn);
    case 'event': {
      const [name, inner] = pairIn(value, 'an event');
      return { name, value: inner };
    }
    case 'receipt':
      return unpackFields(RECEIPT_LAYOUT, listIn(value, 'a receipt'));
    case 'pins':
      return unpackPins(listIn(value, 'pins'));
    case 'settled':
      return listIn(value, 'settled effects').map((one) => {
        const [effect, receipt] = pairIn(one, 'a settled effect');
        return [digestIn(effect), unpackFields(RECEIPT_LAYOUT, listIn(receipt, 'a receipt'))];
      });
    default:
      return form satisfies never;
  }
}

function unpackPins(list: readonly Value[]): Value {
  if (list.length % 2 !== 0) throw new Misplaced('a pin without a digest');
  const pins: Value[] = [];
  for (let i = 0; i < list.length; i += 2) pins.push({ name: list[i] as Value, digest: digestIn(list[i + 1]) });
  return pins;
}

function digestIn(value: Value | undefined): string {
  if (value instanceof Uint8Array && value.length === 32) return toHex(value);
  throw new Misplaced(`${shown(value)} stands where a digest is due`);
}

function pairIn(value: Value | undefined, what: string): readonly [Value, Value] {
  const list = listIn(value, what);
  if (list.length === 2) return list as readonly [Value, Value];
  throw new Misplaced(`${what} is not a pair`);
}

function listIn(value: Value | undefined, what: string): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  throw new Misplaced(`${what}: ${shown(value)} is not a list`);
}

function isMap(
  value: Value,
): value is Exclude<Value, null | boolean | number | string | Uint8Array | Ref | readonly Value[]> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function shown(value: Value | undefined): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === 'object' && value !== null ? 'a list or map' : String(value).slice(0, 40);
}
