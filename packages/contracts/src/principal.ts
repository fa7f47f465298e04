import * as z from 'zod';

/**
 * Who caused an ingress: `host`, `kernel`, `human:<id>`, `cell:<reducer>/<key>` or `adapter:<effect id>`.
 * Every ingress record carries one; the gate decides what it may do.
 */
export const principal = z
  .string()
  .regex(/^((host|kernel)$|(human|cell|adapter):(?!$))/)
  .max(512);

/** Who caused an ingress. */
export type Principal = 'host' | 'kernel' | `human:${string}` | `cell:${string}` | `adapter:${string}`;
