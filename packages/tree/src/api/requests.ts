/** What an app asks of a tree: commands, and what became of them. */
import { type Actor, isRepriseError, present } from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import type { EventValue } from '@reprise/kernel/define';
import { type By, command, OrgCell, recordsAt, refusalIn } from '@reprise/org';
import { key } from '@reprise/org/contracts';
import {
  type NodeRow,
  TREE,
  TREE_REFUSALS,
  type TreeCommandName,
  type TreeFact,
  type TreeRefusal,
  type TreeState,
  type treeCommands,
  type treeTables,
} from '../pure/index.js';
import { treeFactIn } from '../views/index.js';

export type { By } from '@reprise/org';

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

/** The cell of a tree, read by the types of its reducer. */
export type TreeCell = OrgCell<TreeState, typeof treeTables>;

export class TreeRequests {
  /** The cell of the tree. */
  readonly cell: TreeCell;

  constructor(
    world: World,
    readonly name: string,
  ) {
    this.cell = new OrgCell(world, [TREE, name], { part: 'tree', of: 'cell' });
  }

  /** Sends a command. @throws RepriseError the refusals of the kernel, such as `policy_denied` */
  async command(name: TreeCommandName, value: object, by: By = {}): Promise<Done> {
    const sent = await this.send(name, value, by);
    if (typeof sent === 'string') return { status: 'rejected', code: sent };
    const affected = new Set((await this.changes(sent)).map(({ n }) => n));
    return { status: 'accepted', affected: [...affected].sort((a, b) => a - b) };
  }

  /** Answers a question. The first answer counts. */
  async answer(value: EventValue<typeof treeCommands, 'tree/Answer@1'>, by: By = {}): Promise<Answering> {
    const done = await this.command('tree/Answer@1', value, by);
    if (done.status === 'accepted') return { status: 'applied', affected: done.affected };
    const { status, code } = done;
    if (code !== 'already_answered') return { status, code };
    const row = await this.cell.row('asks', key(value.ask));
    return { status: 'already_settled', ...present({ actor: row?.outcome?.by ?? undefined }) };
  }

  /** Sends an event; a refusal by the tree is a code. */
  async send(name: string, value: object, by: By): Promise<Ack | TreeRefusal> {
    try {
      return await command(this.cell, name, value, by);
    } catch (error) {
      if (isRepriseError(error, 'cell_absent')) return 'not_started';
      const refusal = refusalIn(error);
      const code = TREE_REFUSALS.find((known) => known === refusal);
      if (code === undefined) throw error;
      return code;
    }
  }

  /** The nodes that changed in the frame of a request. */
  async changes(ack: Ack): Promise<readonly TreeFact<'tree/NodeChanged@1'>[]> {
    return (await recordsAt(this.cell, ack)).flatMap((record) => {
      const fact = treeFactIn(record);
      return fact?.tree === this.name && fact.name === 'tree/NodeChanged@1' ? [fact.value] : [];
    });
  }

  async row(n: number): Promise<NodeRow | undefined> {
    return this.cell.row('nodes', key(n));
  }
}
