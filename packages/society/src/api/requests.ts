/** What an app asks of the cells of a society, and how it hears of the outcome. */
import {
  type Address,
  type JournalRecord,
  type Principal,
  present,
  REQUEST_ID_MAX,
  type Value,
} from '@reprise/contracts';
import { type Ack, encode, portableSha256, recordsOf, toHex, type World } from '@reprise/kernel';

/** Who asks, and under which id: a repetition with one id is one act. */
export interface SocietyBy {
  readonly id?: string;
  readonly as?: Principal;
}

/** What a call was answered with. */
export interface Answered {
  readonly call_id: string;
  readonly value: Value;
  readonly refs: readonly { readonly label: string; readonly ref: string }[];
  readonly is_error: boolean;
}

/** The id of a request to a cell of a society: no session's request has one like it. A long one is a digest. */
function requestId(cell: Address, name: string, id: string): string {
  const whole = `///society/${cell[1]}/${name}/${id}`;
  return whole.length <= REQUEST_ID_MAX ? whole : toHex(portableSha256(encode(['society', ...cell, name, id])));
}

/** Sends an event to a cell, once for each id. */
export function ask(world: World, cell: Address, name: string, value: object, { id, as }: SocietyBy): Promise<Ack> {
  const options = present({ id: id === undefined ? undefined : requestId(cell, name, id), as });
  return world.request(cell, { name, value: value as Value }, options);
}

/**
 * The first fact of a cell that fits, from the frame of a request on.
 *
 * @throws what closed the world, when it closes before
 */
export async function factOf<T>(
  world: World,
  cell: Address,
  ack: Pick<Ack, 'seq'>,
  { name, fits }: { readonly name: string; readonly fits: (value: T) => boolean },
): Promise<T> {
  const own = recordsOf(ack as Ack);
  const at = own === undefined ? undefined : factIn<T>(own, cell, name, fits);
  if (at !== undefined) return at;
  for await (const { records } of world.frames(ack.seq)) {
    const found = factIn<T>(records, cell, name, fits);
    if (found !== undefined) return found;
  }
  throw world.closedBy ?? new Error('the world was closed');
}

/** The answer to a call of a tool, from the frame of its request on. */
export function answerOf(world: World, cell: Address, ack: Pick<Ack, 'seq'>, call: string): Promise<Answered> {
  return factOf<Answered>(world, cell, ack, { name: 'society/Answered@1', fits: ({ call_id }) => call_id === call });
}

function factIn<T>(
  records: readonly JournalRecord[],
  [reducer, key]: Address,
  name: string,
  fits: (value: T) => boolean,
): T | undefined {
  for (const record of records) {
    if (record.kind !== 'fact' || record.name !== name || record.from === null) continue;
    if (record.from[0] !== reducer || record.from[1] !== key) continue;
    const value = record.value as unknown as T;
    if (fits(value)) return value;
  }
  return undefined;
}
