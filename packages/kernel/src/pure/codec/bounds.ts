/**
 * How deep a value may nest: lists and maps count, scalars, bytes and links do not. Values from a program
 * stays below this, which leaves the records around it 16 levels of their own.
 */
export const VALUE_DEPTH_MAX = 48;

/** How deep a journaled frame may nest, values included. Reader and writer recurse, so this also bounds their stack. */
export const FRAME_DEPTH_MAX = 64;

/**
 * How many bytes one value may take. A list that names the same list twice, 40 levels deep, is small in memory
 * and endless in bytes: the depth bound does not stop it, this does. Far above any frame or state.
 */
export const ENCODED_BYTES_MAX = 64 * 1024 * 1024;

/** From so many entries on a map of a frame can be referred to: smaller ones are hardly longer than a reference. */
export const SHARED_ENTRIES_MIN = 3;

/** How many maps of a frame that are alike can be referred to: a map is compared with these and no others. */
export const ALIKE_MAPS_MAX = 16;
