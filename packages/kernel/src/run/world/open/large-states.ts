/** Tells about states that have grown large. */
import { type LeafChange, STATE_BYTES_WARN } from '../../../pure/engine/index.js';
import type { OpenKernelWorldOptions } from './options.js';

/** Reports states that have just grown large; once, not at every later event. */
export function reportLargeStates(
  changes: readonly LeafChange[],
  tell: NonNullable<OpenKernelWorldOptions['onLargeState']>,
): void {
  for (const { key, before, after } of changes) {
    if (key.path[0] !== 'cell' || after === undefined || after.length <= STATE_BYTES_WARN) continue;
    if (before === undefined || before.length <= STATE_BYTES_WARN)
      tell([String(key.path[1]), String(key.path[2])], after.length);
  }
}
