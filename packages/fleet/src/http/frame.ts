/**
 * How an answer travels: beats while the operation runs, then a mark, the signature and the body. A beat says only that the
 * process lives; a process that is stopped sends none.
 */

/** A beat: the process lives, and has no answer yet. */
export const BEAT = Uint8Array.of(0);
/** The signature and the body follow. */
export const MARK = Uint8Array.of(1);

/** The header with the signature of a request, in hex. */
export const SIGNATURE_HEADER = 'x-reprise-signature';

/** The bytes of an answer beyond its output: its kind, and the details of an error. */
export const ANSWER_BYTES_MORE = 64 * 1024;

/** The bytes of a request beyond its input: names, ids, an actor. */
export const REQUEST_BYTES_MORE = 16 * 1024;
