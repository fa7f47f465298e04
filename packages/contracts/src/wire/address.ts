import { RepriseError } from '../errors/errors.js';
import * as z from '../schema/index.js';
import { CELL_KEY_BYTES_MAX } from '../schema/text-length.js';
import { wireName } from './names.js';

/** The key of a cell on the wire. */
const cellKey = z.string().key(CELL_KEY_BYTES_MAX);

/** A cell's address on the wire: `[reducer, key]`. */
export const address = z.tuple([wireName, cellKey]);

/** A cell's address: reducer name and key. */
export type Address = z.infer<typeof address>;

/** A plan instance on the wire: `[reducer, key, ordinal]`; the ordinal counts the plans of its cell. */
export const planAddress = z.tuple([wireName, cellKey, z.int().min(0)]);

/** The address of a plan: its cell, and its number in the cell. */
export type PlanAddress = z.infer<typeof planAddress>;

const ADDRESS_TEXT = /^([a-z][a-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_.-]*@[1-9][0-9]{0,5})\/(.+)$/s;

/**
 * Formats an address for people: `aos.agent/SessionReducer@1/ticket-42`.
 *
 * @param of the address, as on the wire
 */
export function formatAddress(of: readonly [string, string, ...unknown[]]): string {
  return `${of[0]}/${of[1]}`;
}

/**
 * Parses an address that a person wrote.
 *
 * @param text `namespace/Reducer@1/key`
 * @throws RepriseError `invalid_argument` when the text has another shape
 */
export function parseAddress(text: string): Address {
  const parts = ADDRESS_TEXT.exec(text);
  if (parts?.[1] === undefined || parts[2] === undefined) {
    throw new RepriseError('invalid_argument', 'invalid cell address', {
      expected: 'namespace/Reducer@1/key',
      actual: text,
      ...(/^[^/\s]{1,128}$/.test(text) ? { hint: `Did you mean the session aos.agent/SessionReducer@1/${text}?` } : {}),
    });
  }
  return [parts[1], parts[2]];
}
