/** What an app asks of the cells of a society, and how it hears of the outcome. */
import { PartCell, type RequestBy } from '@reprise/agent';
import type { Address, Value } from '@reprise/contracts';
import { type Ack, encode, portableSha256, toHex, type World } from '@reprise/kernel';

export type { RequestBy as SocietyBy } from '@reprise/agent';

/** What a call was answered with. */
export interface Answered {
  readonly call_id: string;
  readonly value: Value;
  readonly refs: readonly { readonly label: string; readonly ref: string }[];
  readonly is_error: boolean;
}

/** A cell of a society, as an app asks and reads it. */
export function societyCell(world: World, cell: Address): PartCell {
  return new PartCell(world, cell, { part: 'society', of: 'event' });
}

/** Sends an event to a cell, once for each id. */
export function ask(world: World, cell: Address, name: string, value: object, by: RequestBy): Promise<Ack> {
  return societyCell(world, cell).send(name, value, by);
}

/** The id of a call that is made of what makes it one act: the same parts give the same id. */
export function callIdOf(parts: readonly Value[]): string {
  return toHex(portableSha256(encode(parts))).slice(0, 40);
}

/** The answer to a call of a tool, from the frame of its request on. */
export function answerOf(world: World, cell: Address, ack: Pick<Ack, 'seq'>, call: string): Promise<Answered> {
  const fits = ({ call_id }: Answered) => call_id === call;
  return societyCell(world, cell).fact<Answered>(ack, 'society/Answered@1', fits);
}
