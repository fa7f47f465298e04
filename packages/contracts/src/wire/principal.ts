import * as z from '../schema/index.js';

/**
 * The principal that caused an ingress: `operator`, `kernel`, `human:<id>`, `cell:<reducer>/<key>` or `adapter:<effect
 * id>`. Every ingress record carries one; the gate decides about its rights.
 */
export const principal = z
  .string()
  // A cell's key may be any text, line breaks included; other names may not contain line breaks.
  .regex(/^((operator|kernel)$|(human|adapter):.+$|cell:(?!$))/)
  .max(512);

/** The principal that caused an ingress. */
export type Principal = 'operator' | 'kernel' | `human:${string}` | `cell:${string}` | `adapter:${string}`;

/**
 * What to do about a text that is not a principal: a bare name is most often a person. For the hint of an error.
 *
 * @example hintOfPrincipal('ann') // { hint: 'Did you mean "human:ann"?' }
 */
export function hintOfPrincipal(thing: unknown): { readonly hint?: string } {
  if (typeof thing !== 'string') return {};
  if (/^[^:/\s][^:]{0,127}$/.test(thing)) return { hint: `Did you mean "human:${thing}"?` };
  return thing === 'human:' ? { hint: 'Put the name of the person behind it, such as "human:ann".' } : {};
}
