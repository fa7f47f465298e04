/** Agents fail, and carry out what was taken from them meanwhile when they are revived. */
import { failEntity } from '../../failing.js';
import { may, type Node, type Question } from '../../oracle.js';
import { PERSON } from '../../worlds/grown.js';
import { type Life, short } from '../life.js';
import { changedBy, isOfSwarm, readable } from './rights.js';

/** An agent without agents below fails, and lives on when it is revived. */
export async function fails(life: Life): Promise<void> {
  const ones = life.agents.filter(
    ({ node }) => !life.hasBelow(node) && !life.isRunning(node) && !isOfSwarm(life, node.id),
  );
  if (ones.length === 0) return;
  const failed = ones.filter(({ node }) => node.failed);
  const { node, entity } = failed.length > 0 && !life.d.once(3) ? life.d.of(failed) : life.d.of(ones);
  if (!node.failed && !life.d.once(2)) return;
  if (node.failed) await entity.revive();
  else await failEntity(life.scene.world, node.id);
  node.failed = !node.failed;
  node.knew = node.failed ? aboveOf(life, node) : [];
  if (!node.failed) revives(life, node);
  life.did(node.failed ? 'fail' : 'revive');
  life.say(`${short(node)} ${node.failed ? 'fails' : 'lives'}`);
}

/** A revived agent carries out what was taken from it, and hears what it has missed. */
function revives(life: Life, node: Node): void {
  carriesOut(life, node);
  life.expected.catchesUp(node, life.now);
}

/** All above an agent, as they are now. */
function aboveOf(life: Life, node: Node): readonly Node[] {
  const parent = life.expected.tree[node.parent];
  return parent === undefined ? [] : [{ ...parent }, ...aboveOf(life, parent)];
}

/**
 * A revived agent carries out itself what was taken from it, in the order of the changes: then they count as they would have
 * without the failure, and it is no longer held to them. What only its parent could change it refuses, and stays held to.
 */
function carriesOut(life: Life, node: Node): void {
  const { expected } = life;
  const { cuts } = node;
  if (cuts.length === 0) return;
  const before = readable(life, { node });
  const isParent = expected.parent(node).kind === 'person'; // all changes of this oracle are a person's
  node.cuts = [];
  for (const cut of cuts) {
    const next = { ...node, ...changedBy(node, { memory_read: cut.capabilities?.memory_read }, cut.grant) };
    const isDone = isParent || isNarrower(life, node, next);
    if (isDone) Object.assign(node, { declared: next.declared, granted: next.granted });
    node.cuts = isDone ? [] : [...node.cuts, cut];
  }
  const isSure = before.some((group) => !readable(life, { node }).includes(group));
  expected.narrowed(node, isSure, life.now);
}

/** Names that no world has, one of each kind that a pattern tells apart. */
const STRANGE = ['a-strange', 'strange'] as const;

/** Whether a change leaves an agent nothing that it had not, for itself and for those below. */
function isNarrower({ expected, now }: Life, node: Node, next: Node): boolean {
  const names = [...expected.groups.keys(), ...STRANGE];
  const child = {
    ...PERSON,
    id: 'child',
    parent: expected.tree.indexOf(node),
    kind: 'custom',
    members: memberOf(names),
  };
  const asks = (as: Node, of: Node, question: Question) => {
    const tree = [...expected.tree.map((one) => (one === node ? as : one)), child];
    return may(tree, tree.indexOf(of === node ? as : of), question);
  };
  return [node, child].every((of) =>
    questionsOf(names, [of.id, expected.parent(node).id], now).every(
      (question) => !asks(next, of, question) || asks(node, of, question),
    ),
  );
}

function memberOf(names: readonly string[]): Node['members'] {
  return Object.fromEntries(names.map((name) => [name, 'member']));
}

function questionsOf(groups: readonly string[], ids: readonly string[], now: number): readonly Question[] {
  const stores = [
    ...groups.map((group) => `group:${group}`),
    ...ids.flatMap((id) => [`private:${id}`, `l1-notes:${id}`]),
  ];
  return [
    ...groups.map((name) => ({ ask: 'group', name, now })),
    ...[...stores, 'public'].flatMap((name) => ['read', 'write'].map((ask) => ({ ask, name, now }))),
  ];
}
