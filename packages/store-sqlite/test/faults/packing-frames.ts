/** The bytes of frame `seq`, the same in every process; some hundred of them fill a pack. */
export function packedFrame(seq: number): Uint8Array {
  return new Uint8Array(Buffer.from(`frame ${seq} `.repeat(50 + ((seq * 7) % 400))));
}
