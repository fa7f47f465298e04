/** Canonical bytes: the one encoding of everything that is hashed, journaled or compared. */

export { fromHex, toHex } from '@reprise/contracts';
export { FRAME_DEPTH_MAX, VALUE_DEPTH_MAX } from './bounds.js';
export { compareBytes, equalBytes } from './bytes.js';
export { copyNormal, copyValue } from './copy.js';
export { decode, decodeScope, decodeScopeStart } from './decode.js';
export {
  encode,
  encodeEach,
  encodeItems,
  encodeKernel,
  encodeScope,
  encodeScopeLinks,
  type LinkedBytes,
} from './encode.js';
export { equalValues } from './equal.js';
export { type Hash, portableSha256 } from './hash.js';
export { linksOf } from './links.js';
export { type NormalValue, nextValue, normalValue } from './normal.js';
export { afterPrefix, decodeKey, encodeKey, type RowKey, type RowKeyPart, textPrefix } from './ordered.js';
export { sharedValue } from './shared.js';
export { byteLength, headBytes, isWithinBytes } from './size.js';
export { compareText, inKeyOrder, readUtf8 } from './text.js';
