/** What an app asks of a tree: commands, and what became of them. */
import {
  type Address,
  isRepriseError,
  type JournalRecord,
  type Principal,
  present,
  REQUEST_ID_MAX,
  type Value,
} from '@reprise/contracts';
import { type Ack, encode, portableSha256, recordsOf, toHex, type World } from '@reprise/kernel';
import {
  type NodeRow,
  TREE,
  TREE_REFUSALS,
  type TreeCommandName,
  type TreeFact,
  type TreeRefusal,
} from '../pure/index.js';
import { key } from '../pure/reducer/keys.js';
import { treeFactIn } from '../views/index.js';

/** Who asks, and under which id: a repetition with one id is one act. */
export interface By {
  readonly id?: string;
  readonly as?: Principal;
}

/**
 * What became of a command. `affected` are the nodes that changed in the frame of the command: of a stop that concerns
 * many, the first ones; the rest follows in the next frames, before any other input is taken.
 */
export type Done =
  | { readonly status: 'accepted'; readonly affected: readonly number[] }
  | { readonly status: 'rejected'; readonly code: TreeRefusal };

/** The commands of one tree. */
export class TreeRequests {
  readonly address: Address;

  constructor(
    private readonly world: World,
    readonly name: string,
  ) {
    this.address = [TREE, name];
  }

  /** Sends a command. @throws RepriseError the refusals of the kernel, such as `policy_denied` */
  async command(name: TreeCommandName, value: object, by: By = {}): Promise<Done> {
    const sent = await this.send(name, value, by);
    if (typeof sent === 'string') return { status: 'rejected', code: sent };
    const affected = new Set((await this.changes(sent)).map(({ n }) => n));
    return { status: 'accepted', affected: [...affected].sort((a, b) => a - b) };
  }

  /** Sends an event; a refusal by the tree is a code. */
  async send(name: string, value: object, { id, as }: By): Promise<Ack | TreeRefusal> {
    const options = present({ id: id === undefined ? undefined : requestId(this.name, id), as });
    try {
      return await this.world.request(this.address, { name, value: value as Value }, options);
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
    const records = recordsOf(ack) ?? (await this.#recordsAt(ack.seq));
    return records.flatMap((record) => {
      const fact = treeFactIn(record);
      return fact?.tree === this.name && fact.name === 'tree/NodeChanged@1' ? [fact.value] : [];
    });
  }

  async #recordsAt(seq: number): Promise<readonly JournalRecord[]> {
    for await (const { records } of this.world.frames(seq)) return records;
    return [];
  }

  /** A row of the table of nodes. */
  async row(n: number): Promise<NodeRow | undefined> {
    return (await this.entries('nodes', { from: key(n), before: key(n + 1) }))[0]?.[1] as NodeRow | undefined;
  }

  /** A page of a table; empty for a tree that was not started. */
  async entries(
    table: string,
    range: { readonly from?: string; readonly after?: string; readonly before?: string; readonly limit?: number },
  ): Promise<readonly (readonly [string, Value])[]> {
    if ((await this.world.state(this.address)) === undefined) return [];
    return this.world.table(this.address, table, range);
  }

  /** All entries of a table, page by page. */
  async *each(
    table: string,
    range: { readonly from?: string; readonly before?: string } = {},
  ): AsyncGenerator<readonly [string, Value]> {
    for (let page = await this.entries(table, range); page.length > 0; ) {
      yield* page;
      const after = page.at(-1)?.[0] ?? '';
      page = await this.entries(table, present({ after, before: range.before }));
    }
  }
}

/** The id of a request to a tree: no session's request has one like it. A long one is a digest. */
function requestId(tree: string, id: string): string {
  const whole = `///tree/${tree}/${id}`;
  return whole.length <= REQUEST_ID_MAX ? whole : toHex(portableSha256(encode(['tree', tree, id])));
}
