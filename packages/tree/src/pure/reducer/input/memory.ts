/** The store of a tree: its nodes search it, and store what they find when the tree may write. */
import type { OwnerCall } from '@reprise/agent/contracts';
import { formatAddress, startOfText } from '@reprise/contracts';
import { memoryCall } from '@reprise/org/contracts';
import type { NodeRow } from '../../contracts/node.js';
import type { Delivery } from '../delivery/delivery.js';
import type { ReadNode } from '../delivery/nodes.js';
import { refuseWithoutRight } from '../node/rights.js';

const QUERY = 'memory_query';
const STORE = 'memory_store';

const TITLE_LENGTH = 200;

/** Whether a name is that of a tool which the tree's store answers. */
export function isOfMemory({ state: { memory } }: Delivery, name: string): boolean {
  return memory !== undefined && (name === QUERY || (name === STORE && memory.write));
}

/** Takes a call of a memory tool. What is stored comes from the node, and at last from the words that started the tree. */
export function useMemory(delivery: Delivery, row: NodeRow, call: OwnerCall): void {
  const { state, ctx } = delivery;
  const { scope = '' } = state.memory ?? {};
  const writes = call.name === STORE;
  refuseWithoutRight(delivery, row, writes ? 'mem_write' : 'mem_read', scope);
  if (writes) stateOrigin(delivery, row);
  memoryCall(ctx, call, { store: scope, origin: { cell: formatAddress(ctx.address), node: row.n } });
}

/** States where a node comes from: the nodes above it, and the task of the root, which are the words of a person. */
function stateOrigin({ ctx, nodes }: Delivery, row: ReadNode): void {
  for (const { n, goal, parent, prompt_ref } of nodes.upFrom(row.n)) {
    const from = parent === null ? { kind: 'message', id: 1 } : { kind: 'node', id: parent };
    ctx.record('memory/Linked@1', { kind: 'node', id: n, title: startOfText(goal, TITLE_LENGTH), from: [from] });
    if (parent !== null) continue;
    const text = prompt_ref === null ? {} : { text_ref: prompt_ref };
    ctx.record('memory/Linked@1', { kind: 'message', id: 1, title: 'the task of the tree', from: [], ...text });
  }
}
