/**
 * Lists of the documents that have a word, with its count and the length of each: as bytes, a few for each document.
 */

/** A document that has a word. */
export interface Posting {
  readonly document: number;
  readonly count: number;
  /** The number of words in the document: here, so that ranking reads nothing else. */
  readonly length: number;
}

/**
 * The documents of one chunk of postings. The chunk of a document depends on its number alone, so an index has the same
 * bytes whatever its history. A chunk is written whole when a document of it is added or removed: a larger one makes
 * updates dearer, a smaller one searches.
 */
const CHUNK_DOCUMENTS = 256;

/** The chunk of a document's postings. */
export function chunkOf(document: number): number {
  return Math.floor(document / CHUNK_DOCUMENTS);
}

/** A chunk with one more posting, of a document whose number is above all in the chunk. */
export function appendPosting(chunk: Uint8Array | null, { document, count, length }: Posting): Uint8Array {
  const before = chunk === null ? 0 : chunk.length;
  const bytes = new Uint8Array(before + 1 + bytesOf(count) + bytesOf(length));
  if (chunk !== null) bytes.set(chunk, 0);
  bytes[before] = document % CHUNK_DOCUMENTS;
  writeNumber(length, bytes, writeNumber(count, bytes, before + 1));
  return bytes;
}

/** A chunk without a document; null when nothing is left. */
export function withoutPosting(chunk: Uint8Array, number: number, document: number): Uint8Array | null {
  let bytes: Uint8Array | null = null;
  for (const posting of readPostings(chunk, number)) {
    if (posting.document !== document) bytes = appendPosting(bytes, posting);
  }
  return bytes;
}

/** The postings of a chunk, by its number, in the order of their documents. */
export function readPostings(bytes: Uint8Array, chunk: number): Posting[] {
  const postings: Posting[] = [];
  let at = 0;
  const next = (): number => {
    let n = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      n += (byte & 127) * scale;
      if (byte < 128) return n;
    }
  };
  while (at < bytes.length) {
    const document = chunk * CHUNK_DOCUMENTS + (bytes[at++] ?? 0);
    const count = next();
    postings.push({ document, count, length: next() });
  }
  return postings;
}

/** Seven bits a byte, the lowest first. @returns the index behind the number */
function writeNumber(n: number, into: Uint8Array, start: number): number {
  let at = start;
  let rest = n;
  for (; rest >= 128; rest = Math.floor(rest / 128)) into[at++] = (rest % 128) + 128;
  into[at++] = rest;
  return at;
}

function bytesOf(n: number): number {
  let bytes = 1;
  for (let rest = n; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}
