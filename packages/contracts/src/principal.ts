import * as z from 'zod';

/**
 * Who caused an ingress: `operator`, `kernel`, `human:<id>`, `cell:<reducer>/<key>` or `adapter:<effect id>`.
 * Every ingress record carries one; the gate decides what it may do.
 */
export const principal = z
  .string()
  // A cell's key may be any text, line breaks included; nobody else's name may.
  .regex(/^((operator|kernel)$|(human|adapter):.+$|cell:(?!$))/)
  .max(512);

/** Who caused an ingress. */
export type Principal = 'operator' | 'kernel' | `human:${string}` | `cell:${string}` | `adapter:${string}`;
