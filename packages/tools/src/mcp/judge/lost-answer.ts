/**
 * The answer in place of one that will not come, or that cannot be read: it ends the wait for its request at once.
 */
import { randomUUID } from 'node:crypto';
import { type JSONRPCMessage, ProtocolError, type RequestId } from '@modelcontextprotocol/client';

/** Marks the answers of {@link lostAnswer}: no server knows it. A text, since messages are written and read again. */
const LOST = `lost ${randomUUID()}`;

/** Any code of an application: who reads the error looks for the mark. */
const CODE = -32_000;

/** An error for a request whose answer is lost. */
export function lostAnswer(id: RequestId, why: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: CODE, message: why, data: LOST } };
}

/** Whether an error stands for an answer that was lost; any other error of the protocol came from the server. */
export function isLostAnswer(error: unknown): boolean {
  return error instanceof ProtocolError && error.data === LOST;
}
