/** Where the command writes, and when it is to stop. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { RepriseError } from '@reprise/contracts';

/** One of the two streams of the command. */
export interface Sink {
  /** A person looks at it. */
  readonly isTTY: boolean;
  /** Nobody reads it any more (`| head`): what is written is dropped, quietly. */
  readonly closed: boolean;
  /** Resolves when the text was handed on, so memory stays bounded and the process may end. */
  write(text: string): Promise<void>;
}

/** What a run of the command has around it. */
export interface Io {
  readonly out: Sink;
  readonly err: Sink;
  /** Asked by who follows: from here on Ctrl-C aborts this signal and no longer ends the process. */
  interrupted(): AbortSignal;
}

/** A sink over a stream. A reader that leaves is no error; any other failure is. */
export function streamSink(stream: Writable & { readonly isTTY?: boolean }): Sink {
  let closed = false;
  stream.on('error', () => {
    closed = true; // each write learns of it by its own callback
  });
  return {
    isTTY: stream.isTTY === true,
    get closed() {
      return closed;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (closed || text === '') return resolve();
        stream.write(text, (error) => {
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

/** Waits, unless told to stop. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), ms);
  await once(AbortSignal.any([stop, timer.signal]), 'abort');
  clearTimeout(timeout);
}
