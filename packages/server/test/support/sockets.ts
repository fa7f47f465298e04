/** Clients that write bytes to a server as they like. */
import { connect, type Socket } from 'node:net';

/** A connection, and what has come on it. */
export interface Wire {
  readonly socket: Socket;
  readonly heard: string;
  readonly isClosed: boolean;
}

/** Opens a connection, and writes to it at once. */
export function wire(url: string, text = ''): Wire {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const state = { socket, heard: '', isClosed: false };
  socket.on('data', (bytes) => {
    state.heard += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    state.isClosed = true;
  });
  if (text !== '') socket.write(text);
  return state;
}

/** The text of a request with a token. */
export function requestText(
  url: string,
  token: string,
  method: 'GET' | 'POST' | 'DELETE',
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const all: Record<string, string> = {
    host: `127.0.0.1:${new URL(url).port}`,
    accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    ...(method === 'POST' && headers['transfer-encoding'] === undefined
      ? { 'content-length': String(Buffer.byteLength(body)) }
      : {}),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, text]) => `${name}: ${text}\r\n`);
  return `${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** The status of the first answer on a connection; undefined before it has come. */
export function statusOf({ heard }: Wire): number | undefined {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(heard) ?? [];
  return status === undefined ? undefined : Number(status);
}
