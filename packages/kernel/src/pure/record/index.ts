/** Records as the positional lists that are encoded, and back. */
export { DERIVED_LAYOUTS, INGRESS_LAYOUTS, type Layout, RECEIPT_LAYOUT, STATE_PREFIX } from './layout.js';
export { encodeFrame, packWait, recordsOf } from './pack.js';
export { Misplaced, type Unchecked, unpackArmed, unpackDerived, unpackIngress, unpackLeaves } from './unpack.js';
