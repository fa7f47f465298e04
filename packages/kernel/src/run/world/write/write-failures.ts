/** The errors of a writer whose commit failed, or that another writer has overtaken. */
import { type ErrorCode, RepriseError } from '@reprise/contracts';

/** What a writer says that found another writer's frames. */
export const ANOTHER_WRITER = 'another writer has appended to this journal';

/** Errors of a store that is no longer this writer's own: a frame written there may be in no journal of this world. */
const LOST: readonly ErrorCode[] = ['fenced', 'world_moved', 'world_linked'];

/** Whether the store belongs to another writer, or its file to another world. */
export function isLost(error: RepriseError): boolean {
  return LOST.includes(error.code);
}

/** An error of the writer, with what to do about it. */
export function failure(
  code: 'store_failed' | 'fenced' | 'commit_failed',
  what: string,
  cause?: unknown,
): RepriseError {
  const hint = {
    store_failed:
      'Open the world again when its storage works; acknowledged requests are there. Repeat the others under the same id.',
    fenced: 'Find the other writer; a world may have only one.',
    commit_failed: 'The request changed nothing. Fix the cause and send it again under the same id.',
  }[code];
  return new RepriseError(code, what, cause === undefined ? { hint } : { cause, hint });
}
