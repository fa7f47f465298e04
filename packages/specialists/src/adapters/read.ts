/** Executes `specialists.read@1`: a piece of a result, so that pieces one after another give the whole text. */
import { putText, readLlmOutput } from '@reprise/agent';
import { startOfUtf8 } from '@reprise/contracts';
import { type AnyAdapter, adapterOf } from '@reprise/kernel';
import { unlessErased } from '@reprise/org';
import { readResult } from '../pure/index.js';

const CHARACTER_BYTES_MAX = 4;

/** The adapter of `specialists.read@1`: it cuts between characters. */
export function readAdapter(): AnyAdapter {
  return adapterOf(readResult, {
    name: 'specialists.read',
    async doExecute({ output_ref, offset, bytes }, { content }) {
      const output = await unlessErased(readLlmOutput(content, output_ref), undefined);
      if (output === undefined) return { status: 'error', code: 'validation_error/blob_erased', retryable: false };
      const whole = new TextEncoder().encode(output.text ?? '');
      const left = whole.subarray(startOfUtf8(whole, offset).length);
      const piece = pieceOf(left, bytes);
      const text_ref = await putText(content, new TextDecoder().decode(piece));
      const next_offset = piece.length < left.length ? whole.length - left.length + piece.length : null;
      return { status: 'ok', payload: { text_ref, next_offset, total_bytes: whole.length } };
    },
  });
}

/** The first bytes of a text: at least one character, however few were asked for. */
function pieceOf(text: Uint8Array, bytes: number): Uint8Array {
  for (let most = bytes; most < bytes + CHARACTER_BYTES_MAX; most++) {
    const piece = startOfUtf8(text, most);
    if (piece.length > 0) return piece;
  }
  return text;
}
