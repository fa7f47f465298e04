export { blobAt, blobStarts, joinBlobs, LENGTH_BYTES } from './blobs.js';
export {
  deflated,
  deflatedAside,
  inflated,
  PACK_BYTES_LEAST,
  PACK_BYTES_MAX,
} from './deflated.js';
export { type FrameRow, framesOf, joinRows, packedBytes, packRows, rowInflater, rowOf, unpackRow } from './frames.js';
export { JoinedRows } from './joined-rows.js';
export { KeptPacks } from './kept.js';
