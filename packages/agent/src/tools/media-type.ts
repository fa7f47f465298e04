/** Detects the media type of content by its first bytes. */

/** How many bytes of an output decide whether it is binary. */
export const SNIFF_BYTES = 8_000;

const SIGNATURES: readonly (readonly [string, readonly number[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46]],
  ['application/pdf', [0x25, 0x50, 0x44, 0x46]],
  ['application/zip', [0x50, 0x4b, 0x03, 0x04]],
  ['application/gzip', [0x1f, 0x8b]],
  ['application/wasm', [0x00, 0x61, 0x73, 0x6d]],
  ['application/x-elf', [0x7f, 0x45, 0x4c, 0x46]],
];

/** Whether bytes look like a binary file: text has no NUL in any common encoding but UTF-16. */
export function looksBinary(start: Uint8Array): boolean {
  return start.includes(0);
}

/** The media type of binary content. */
export function mediaTypeOf(start: Uint8Array): string {
  const found = SIGNATURES.find(([, signature]) => signature.every((byte, at) => start[at] === byte));
  return found?.[0] ?? 'application/octet-stream';
}
