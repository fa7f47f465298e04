/** What an app asks of a tree: commands, and what became of them. */
import { PartCell, type RequestBy } from '@reprise/agent';
import { type Actor, isRepriseError, present } from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import type { EventValue } from '@reprise/kernel/define';
import {
  type AskRow,
  type NodeRow,
  TREE,
  TREE_REFUSALS,
  type TreeCommandName,
  type TreeFact,
  type TreeRefusal,
  type treeCommands,
} from '../pure/index.js';
import { key } from '../pure/reducer/keys.js';
import { treeFactIn } from '../views/index.js';

export type { RequestBy as By } from '@reprise/agent';

/**
 * What became of a command. `affected` are the nodes that changed in the frame of the command: of a stop that concerns
 * many, the first ones; the rest follows in the next frames, before any other input is taken.
 */
export type Done =
  | { readonly status: 'accepted'; readonly affected: readonly number[] }
  | { readonly status: 'rejected'; readonly code: TreeRefusal };

/**
 * What became of an answer. One question has one answer: `already_settled` names who gave it, and is without an actor
 * when its time ran out or its asker ended.
 */
export type Answering =
  | { readonly status: 'applied'; readonly affected: readonly number[] }
  | { readonly status: 'already_settled'; readonly actor?: Actor }
  | { readonly status: 'rejected'; readonly code: Exclude<TreeRefusal, 'already_answered'> };

/** The commands of one tree. */
export class TreeRequests {
  /** The cell of the tree. */
  readonly cell: PartCell;

  constructor(
    world: World,
    readonly name: string,
  ) {
    this.cell = new PartCell(world, [TREE, name], { part: 'tree', of: 'cell' });
  }

  /** Sends a command. @throws RepriseError the refusals of the kernel, such as `policy_denied` */
  async command(name: TreeCommandName, value: object, by: RequestBy = {}): Promise<Done> {
    const sent = await this.send(name, value, by);
    if (typeof sent === 'string') return { status: 'rejected', code: sent };
    const affected = new Set((await this.changes(sent)).map(({ n }) => n));
    return { status: 'accepted', affected: [...affected].sort((a, b) => a - b) };
  }

  /** Answers a question. */
  async answer(value: EventValue<typeof treeCommands, 'tree/Answer@1'>, by: RequestBy = {}): Promise<Answering> {
    const done = await this.command('tree/Answer@1', value, by);
    if (done.status === 'accepted') return { status: 'applied', affected: done.affected };
    const { status, code } = done;
    if (code !== 'already_answered') return { status, code };
    const row = (await this.cell.entry('asks', key(value.ask))) as AskRow | undefined;
    return { status: 'already_settled', ...present({ actor: row?.outcome?.by ?? undefined }) };
  }

  /** Sends an event; a refusal by the tree is a code. */
  async send(name: string, value: object, by: RequestBy): Promise<Ack | TreeRefusal> {
    try {
      return await this.cell.send(name, value, by);
    } catch (error) {
      if (isRepriseError(error, 'cell_absent')) return 'not_started';
      if (!isRepriseError(error, 'request_rejected')) throw error;
      const code = TREE_REFUSALS.find((known) => known === error.details.reason);
      if (code === undefined) throw error;
      return code;
    }
  }

  /** The nodes that changed in the frame of a request. */
  async changes(ack: Ack): Promise<readonly TreeFact<'tree/NodeChanged@1'>[]> {
    return (await this.cell.records(ack)).flatMap((record) => {
      const fact = treeFactIn(record);
      return fact?.tree === this.name && fact.name === 'tree/NodeChanged@1' ? [fact.value] : [];
    });
  }

  /** A row of the table of nodes. */
  async row(n: number): Promise<NodeRow | undefined> {
    return (await this.cell.entry('nodes', key(n))) as NodeRow | undefined;
  }
}
