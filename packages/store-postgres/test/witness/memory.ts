/** A witness in memory, and a database that a test answers for. */
import type { Connections, Row, SqlParameter } from '../../src/connection/driver.js';
import type { WitnessPlace } from '../../src/witness/place.js';
import type { WitnessedHead } from '../../src/witness/slot.js';

/** A place in memory; `puts` has the name of each put. */
export function memoryPlace(): WitnessPlace & { readonly stored: Map<string, Uint8Array>; readonly puts: string[] } {
  const stored = new Map<string, Uint8Array>();
  const puts: string[] = [];
  return {
    ...{ label: 'memory', stored, puts },
    put: async (name, bytes) => {
      puts.push(name);
      stored.set(name, bytes.slice());
    },
    get: async (name) => stored.get(name)?.slice(),
  };
}

/** A statement that was sent. */
export interface Sent {
  readonly text: string;
  readonly parameters: readonly SqlParameter[];
}

/** Connections whose statements a test answers; `sent` has each of them. */
export function scripted(answer: (sent: Sent) => readonly Row[]): Connections & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const rows = async (_what: string, text: string, parameters: readonly SqlParameter[] = []) => {
    sent.push({ text, parameters });
    return answer({ text, parameters });
  };
  return { label: 'scripted', sent, rows, transaction: (_what, body) => body({ rows }), end: async () => undefined };
}

export const FIRST = '11111111-1111-4111-8111-111111111111';
export const SECOND = '22222222-2222-4222-8222-222222222222';
export const THIRD = '33333333-3333-4333-8333-333333333333';

/** A digest that says by itself whose it is. */
export const digestOf = (world: string, seq: number, life = 0): string =>
  Buffer.from(`${world} ${seq} ${life}`).toString('hex').padEnd(64, '0').slice(0, 64);

export function headOf(world: string, seq: number, more: Partial<WitnessedHead> = {}): WitnessedHead {
  return { ...{ world, seq, head: digestOf(world, seq), epoch: 1, incarnation: FIRST, at: 1_000 + seq }, ...more };
}
