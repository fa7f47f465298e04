/** Bodies in pieces of one byte, sent to a server in a process with little memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { program } from '../../../../scripts/lib/program.js';
import { requestText, wire } from './sockets.js';

/** The heap of the server in MiB: far less than lists of pieces would take. */
const HEAP_MIB = 96;

/** A chunk of one byte, a space: so the body is JSON as long as it does not end. */
const CHUNK = '1\r\n \r\n';
const CHUNKS_AT_ONCE = 8_192;

/** What the server took. */
export interface Took {
  /** MiB of memory on top of what it had before; undefined when it did not survive. */
  readonly mib?: number;
  /** Whether it answered a request while all bodies were still being sent. */
  readonly answered: boolean;
  readonly errors?: readonly string[];
}

/** Sends bodies at once, each byte a piece of its own; none ends before all were sent. */
export async function sendPieces(requests: number, bytes: number): Promise<Took> {
  const main = await program(new URL('./small-server.ts', import.meta.url));
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, main], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    return done === true ? {} : JSON.parse(value);
  };
  try {
    const { url, token } = await next();
    const head = requestText(url, token, 'POST', { 'transfer-encoding': 'chunked' });
    const open = Array.from({ length: requests }, () => wire(url, head));
    await Promise.all(open.map(({ socket }) => drip(socket, bytes)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const other = await fetch(url, { method: 'POST' }).then(
      ({ status }) => status,
      () => 0,
    );
    for (const { socket } of open) socket.destroy();
    child.stdin.on('error', () => undefined).end();
    return { answered: other === 401, ...(await next()) };
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  }
}

async function drip(socket: import('node:net').Socket, bytes: number): Promise<void> {
  const piece = Buffer.from(CHUNK.repeat(CHUNKS_AT_ONCE));
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += CHUNKS_AT_ONCE) {
    const size = Math.min(CHUNKS_AT_ONCE, bytes - sent) * CHUNK.length;
    if (!socket.write(piece.subarray(0, size)))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
  }
}
