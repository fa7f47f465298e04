/** The streams that the command writes to, and the signal that stops it. */
import type { Writable } from 'node:stream';
import { RepriseError } from '@reprise/contracts';
import { escapeLine, escapeText } from '../text/escape.js';

/** One of the two streams of the command. */
export interface Sink {
  /** The stream is a terminal. */
  readonly isTTY: boolean;
  /** The width of the terminal; absent for a file or a pipe, and for a terminal that says 0: lines are not fitted. */
  readonly columns?: number | undefined;
  /** The reader has closed the stream (`| head`): further output is dropped silently. */
  readonly closed: boolean;
  /** Resolves when the stream has taken the text, so memory stays bounded and the process may end. */
  write(text: string): Promise<void>;
}

/** The environment of one run of the command. */
export interface Io {
  readonly out: Sink;
  readonly err: Sink;
  /** Called by commands that follow a world: from then on Ctrl-C aborts this signal instead of ending the process. */
  interrupted(): AbortSignal;
  /** Calls a function at each Ctrl-C and at a request to end, in place of ending the process. @returns stops that */
  onSignal?(hear: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** The terminal of a person, when both its input and its output are one. */
  readonly terminal?: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };
}

/**
 * A sink over a stream. A reader that closes the stream is not an error; any other failure is.
 *
 * A terminal is sent nothing that it would execute, whichever verb prints what others wrote. A file or a pipe gets the
 * text as it is.
 */
export function streamSink(stream: Writable & { readonly isTTY?: boolean; readonly columns?: number }): Sink {
  let closed = false;
  stream.on('error', () => {
    closed = true; // the callback of each write gets the error too
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY === true ? stream.columns || undefined : undefined; // it changes with the window
    },
    get closed() {
      return closed;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (closed || text === '') return resolve();
        stream.write(stream.isTTY === true ? escapeText(text) : text, (error) => {
          if (error === null || error === undefined || isBrokenPipe(error)) resolve();
          else reject(new RepriseError('store_failed', 'the output cannot be written', { cause: error }));
        });
      }),
  };
}

function isBrokenPipe(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}

/** Says at a terminal how to look at a world on a page. */
export async function sayInspect(io: Io, world: string): Promise<void> {
  if (io.out.columns !== undefined) await io.err.write(`${escapeLine(`npx reprise inspect ${world}`)}\n`);
}
