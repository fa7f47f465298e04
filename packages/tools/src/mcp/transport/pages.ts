/**
 * The bound on a server's list of tools: its pages count, and nothing that arrives beside them.
 *
 * Invariants
 * G1  A page counts toward the list that requested it, found by the id of the request: answers to calls, notifications
 *     and late pages of an abandoned list never count toward another list.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type Intake, LIST_BYTES_MAX } from './intake.js';

/** The bytes that one list may still have. */
interface Budget {
  left: number;
}

/** Counts the pages of the lists that one connection requests. */
export class Pages {
  #list: Budget = { left: LIST_BYTES_MAX };
  readonly #requested = new Map<unknown, Budget>();

  /** @param intake refuses everything further when a list is too large */
  constructor(private readonly intake: Intake) {}

  /** Begins a list with a budget of its own. */
  begin(): void {
    this.#list = { left: LIST_BYTES_MAX };
  }

  /** Watches the messages of a transport, whose client must be connected. */
  watch(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ('method' in message && 'id' in message && message.method === 'tools/list') {
        this.#requested.set(message.id, this.#list);
      }
      return send(message, options);
    };
    const hear = transport.onmessage?.bind(transport);
    transport.onmessage = (message: JSONRPCMessage, extra) => {
      this.#count(message);
      hear?.(message, extra);
    };
  }

  /** @throws TooMuch when the list has too many bytes */
  #count(message: JSONRPCMessage): void {
    if (!('id' in message) || 'method' in message) return;
    const list = this.#requested.get(message.id);
    if (list === undefined) return;
    this.#requested.delete(message.id);
    list.left -= Buffer.byteLength(JSON.stringify(message));
    if (list.left < 0) this.intake.refuse(`its list of tools has more than ${LIST_BYTES_MAX} bytes`);
  }
}
