/**
 * Warnings about the answer to a call, on their way past the MCP package: in `_meta`, under a name that no server knows.
 */
import { randomUUID } from 'node:crypto';

/** The warning of data whose large numbers are kept as the text of their digits. */
export const LARGE_NUMBERS_AS_TEXT = 'large_numbers_as_text';

const WARNINGS = `warnings ${randomUUID()}`;

type Json = Readonly<Record<string, unknown>>;

/** A result that carries warnings. */
export function withWarnings(result: Json, warnings: readonly string[]): Json {
  return warnings.length === 0 ? result : { ...result, _meta: { [WARNINGS]: warnings } };
}

/** The warnings that a result carries. */
export function warningsOf({ _meta = {} }: { readonly _meta?: Json | undefined }): readonly string[] {
  const warnings = _meta[WARNINGS];
  return Array.isArray(warnings) ? warnings.map(String) : [];
}
