/** Executes `specialists.read@1`: a piece of a result, so that pieces one after another give the whole text. */
import { putText, readLlmOutput } from '@reprise/agent';
import { type Ref, RepriseError } from '@reprise/contracts';
import type { Adapter, ContentReader } from '@reprise/kernel';
import { readResult } from '../pure/index.js';

interface Piece {
  readonly output_ref: Ref;
  readonly offset: number;
  readonly bytes: number;
}

interface ReadPiece {
  readonly text_ref: Ref;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

/** The adapter of `specialists.read@1`. */
export function readAdapter(): Adapter<Piece, ReadPiece> {
  return {
    effect: readResult as unknown as Adapter<Piece, ReadPiece>['effect'],
    name: 'specialists.read',
    async doExecute({ output_ref, offset, bytes }, { content }) {
      const whole = await textOf(content, output_ref);
      if (whole === undefined) return { status: 'error', code: 'validation_error/blob_erased', retryable: false };
      const from = border(whole, offset);
      const end = Math.max(border(whole, from + bytes), Math.min(next(whole, from), whole.length));
      const text = new TextDecoder().decode(whole.subarray(from, end));
      const next_offset = end < whole.length ? end : null;
      const payload = { text_ref: await putText(content, text), next_offset, total_bytes: whole.length };
      return { status: 'ok', payload };
    },
  };
}

async function textOf(content: ContentReader, ref: Ref): Promise<Uint8Array | undefined> {
  try {
    return new TextEncoder().encode((await readLlmOutput(content, ref)).text ?? '');
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'blob_erased') return undefined;
    throw error;
  }
}

/** A place, moved back to the beginning of its character. */
function border(bytes: Uint8Array, at: number): number {
  let place = Math.min(at, bytes.length);
  while (place > 0 && place < bytes.length && isInside(bytes, place)) place--;
  return place;
}

/** The end of the character at a place: a piece has at least one, however few bytes were asked for. */
function next(bytes: Uint8Array, at: number): number {
  let place = at + 1;
  while (place < bytes.length && isInside(bytes, place)) place++;
  return place;
}

function isInside(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}
