import { isRepriseError, RepriseError } from '@reprise/contracts';

/** SQLite's primary result codes with a meaning of their own here. */
const BUSY = 5;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** SQLite's extended code for a page beyond the end of the file. */
const SHORT_READ = 522;

/** The primary result code of an error of either driver; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, rawCode, message } = error as { errcode?: unknown; rawCode?: unknown; message?: unknown };
  for (const code of [errcode, rawCode]) if (typeof code === 'number') return code;
  // libsql reports a failed open as text only: `ConnectionFailed("Unable to open …: 14")`
  const opened = typeof message === 'string' ? /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(message) : null;
  return opened === null ? undefined : Number(opened[1]);
}

/** Whether another connection has the lock. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY;
}

/** Whether there was no space left. */
export function isFull(error: unknown): boolean {
  const system = (error as { code?: unknown } | null)?.code;
  return resultCode(error) === FULL || system === 'ENOSPC' || system === 'EDQUOT';
}

/** Whether a read-only open failed because it may not write the side files it needs. */
export function isUnwritable(error: unknown): boolean {
  const code = resultCode(error);
  return code === CANTOPEN || code === READONLY;
}

/**
 * Converts an error of SQLite or of the file system into a RepriseError; a RepriseError passes unchanged.
 *
 * @param error the thrown value
 * @param what the failed operation, as the beginning of a sentence
 * @param where the file, and the frame or blob if it is known
 */
export function storeError(error: unknown, what: string, where: string): RepriseError {
  if (isRepriseError(error)) return error;
  const code = resultCode(error);
  const system = (error as { code?: unknown } | null)?.code;
  // The last is the error of node:sqlite for a number beyond the safe integers: no writer of ours stores one.
  const isUnsound = code === CORRUPT || code === NOTADB || extendedCode(error) === SHORT_READ;
  if (isUnsound || system === 'ERR_OUT_OF_RANGE') {
    return new RepriseError('journal_damaged', `${what}: the file is not a sound database`, {
      where,
      hint: 'Restore it from a copy; keep the damaged file, another reader may recover more of it.',
      cause: error,
    });
  }
  if (isFull(error)) {
    return new RepriseError('store_full', `${what}: no space left`, {
      where,
      hint: 'Nothing was written. Free some space, then try again.',
      cause: error,
    });
  }
  return new RepriseError('store_failed', `${what}: ${error instanceof Error ? error.message : String(error)}`, {
    where,
    cause: error,
  });
}

/** Runs a body and converts the errors that it throws. */
export function guarded<T>(what: string, where: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw storeError(error, what, where);
  }
}
