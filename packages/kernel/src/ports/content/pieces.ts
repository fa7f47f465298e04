/** Joins pieces of bytes: each is copied before the next is requested, since its buffer may be reused. */
export async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    copies.push(new Uint8Array(piece));
    length += piece.length;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const copy of copies) {
    all.set(copy, at);
    at += copy.length;
  }
  return all;
}
