/** Tells about states that have grown large. */
import type { Value } from '@reprise/contracts';
import { byteLength } from '../../../pure/codec/index.js';
import { type LeafChange, STATE_BYTES_WARN } from '../../../pure/engine/index.js';
import type { OpenKernelWorldOptions } from './options.js';

/** Reports states that have just grown large; once, not at every later event. */
export function reportLargeStates(
  changes: readonly LeafChange[],
  tell: NonNullable<OpenKernelWorldOptions['onLargeState']>,
): void {
  for (const { key, before, after } of changes) {
    if (key.path[0] !== 'cell') continue;
    const bytes = bytesOf(after);
    if (bytes <= STATE_BYTES_WARN || bytesOf(before) > STATE_BYTES_WARN) continue;
    tell([String(key.path[1]), String(key.path[2])], bytes);
  }
}

function bytesOf(leaf: unknown): number {
  return leaf === undefined ? 0 : byteLength(leaf as Value);
}
