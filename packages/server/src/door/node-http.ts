/** Sends answers by Node's server. */
import type { Exchange } from './exchange.js';

/** Sends an answer, as fast as the client reads it. */
export async function send(answer: Response, exchange: Exchange): Promise<void> {
  const { response, signal, isOver } = exchange;
  if (isOver) return void answer.body?.cancel().catch(() => undefined);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (answer.body === null) return void response.end();
  response.flushHeaders();
  const reader = answer.body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (response.destroyed) return;
      if (!response.write(read.value)) await drained(exchange);
    }
    // A stream was ended, and its client does not read: it would never hear of the end.
    if (signal.aborted && (exchange.breaks || response.writableNeedDrain)) response.destroy();
    else response.end();
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function drained({ response, signal }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
