/** The current rights and accounts, read between two frames. */
import {
  type Account,
  type Actor,
  type Address,
  actorOf,
  type Principal,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import { copyValue } from '../../../pure/codec/index.js';
import {
  accountKey,
  firstDecision,
  gateRead,
  gateSender,
  holderOf,
  type ItemName,
  mayAnswer,
  WORLD_KEY,
  type WorldLeaf,
} from '../../../pure/engine/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { loaded } from '../../../state/loaded.js';
import { worldOf } from '../../../state/world-leaf.js';
import type { Decider } from '../ask/asking.js';
import type { PendingItem } from '../ask/open-items.js';

/** Reads an account; undefined when it does not exist. */
export async function readAccount(table: LeafTable, account: string): Promise<Account | undefined> {
  const leaf = await table.read(accountKey(account));
  return leaf && ownCopy(leaf);
}

/** Leaves are shared and never written into, so callers get copies. */
function ownCopy<T extends object>(leaf: T): T {
  return copyValue(leaf as unknown as Value) as unknown as T;
}

/**
 * Refuses a principal that may not read a cell.
 *
 * @throws RepriseError `cap_denied`, `policy_denied`
 */
export async function requireReader(table: LeafTable, who: Principal, cell: Address, at: number): Promise<void> {
  const rules = rulesOf(table);
  const verdict = await loaded(table, () => gateRead({ overlay: table, rules, at }, who, cell));
  if (verdict.allow) return;
  const code = verdict.code.startsWith('policy_denied') ? 'policy_denied' : 'cap_denied';
  throw new RepriseError(code, `${who} may not read this`, { where: cell.join('/'), reason: verdict.code });
}

/** Whether the rights of a principal and the rules let it send an event to a cell; a cell sends to itself alone. */
export async function maySend(
  table: LeafTable,
  who: Principal,
  { to, event, at }: { readonly to: Address; readonly event: string; readonly at: number },
): Promise<boolean> {
  const world = { overlay: table, rules: rulesOf(table), at };
  const isOther = who.startsWith('cell:') && who !== holderOf(to);
  return loaded(table, () => !isOther && gateSender(world, who, to, event).allow);
}

/** The pending items that a principal may decide, answer or settle. */
export async function answerable(
  table: LeafTable,
  who: Principal,
  items: readonly PendingItem[],
  at: number,
): Promise<readonly PendingItem[]> {
  const world = { overlay: table, rules: rulesOf(table), at };
  return loaded(table, () => items.filter(({ name, to }) => mayAnswer(world, who, name, to) === undefined));
}

/**
 * Who decided about an item that does not wait any more; undefined when nobody did, while it waits, and for a principal
 * that could not have decided.
 */
export async function decider(
  table: LeafTable,
  item: ItemName,
  who: Principal,
  at: number,
): Promise<Decider | undefined> {
  const world = { overlay: table, rules: rulesOf(table), at };
  return loaded(table, () => {
    const first = firstDecision(table, item);
    if (first?.decided === undefined) return undefined;
    const isSettler = first.settler !== undefined && who === holderOf(first.settler);
    if (!isSettler && mayAnswer(world, who, first.name, first.to) !== undefined) return undefined;
    const { by, actor } = first.decided;
    return { by, actor: copyValue(actorOf(by, actor) as unknown as Value) as unknown as Actor };
  });
}

function rulesOf(table: LeafTable): WorldLeaf {
  return worldOf(table.get(WORLD_KEY));
}
