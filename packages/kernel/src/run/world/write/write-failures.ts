/** The errors of a writer whose commit failed, or that another writer has overtaken. */
import { type ErrorCode, isRepriseError, RepriseError } from '@reprise/contracts';

/** What a writer says that found another writer's frames. */
export const ANOTHER_WRITER = 'another writer has appended to this journal';

/** What a writer says whose tenure of its store has ended, before or after another process took the store over. */
const TENURE_OVER = 'this opening no longer owns its store: another process may have taken the world over';

/** The error of a writer without its tenure. */
export function tenureOver(): RepriseError {
  return failure('fenced', TENURE_OVER);
}

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
  const actual = isRepriseError(cause) ? { actual: cause.message } : {};
  return new RepriseError(code, what, cause === undefined ? { hint } : { ...actual, cause, hint });
}
