/** What a report of memories says, in words. */
import type { MemoryRow, MemoryVerdict, Owner, ReaderRow } from '@reprise/operators';
import { cellName, ownerName, plain, safe } from '../../words/names.js';
import { amount } from '../../words/numbers.js';

/** Who wrote an item: an agent or a person by name, or who acted from outside. */
export function authorName({ author, act }: MemoryRow): string {
  if (author.cell === 'people') return act?.by == null ? 'people' : actedBy(act.by);
  const agent = act?.of?.agent ?? null;
  const name = safe(author.name ?? cellName(author.cell));
  return agent === null || name.startsWith(safe(agent)) ? name : `${safe(agent)}, for ${name}`;
}

/** Who acted in a name that is not its own: `rule any_wrong_vote`, `the program`. */
export function actedBy(by: string): string {
  return by === 'operator' ? 'the program' : safe(by);
}

/** A store by its kind and its name: `research`, `private, of scribe`. */
export function storeName({ store, store_of }: Pick<MemoryRow, 'store' | 'store_of'>): string {
  if (store_of !== null) return `${safe(store.slice(0, store.indexOf(':')))}, of ${safe(store_of)}`;
  return safe(plain(store.replace(/^group:/, '')));
}

/** How many verdicts of a kind stand: `2 wrong, 1 right`. */
export function verdictsOf(verdicts: readonly MemoryVerdict[]): string {
  const kinds = ['wrong', 'right', 'validated'] as const;
  return kinds
    .map((kind) => ({ kind, n: verdicts.filter(({ verdict, stands }) => stands && verdict === kind).length }))
    .filter(({ n }) => n > 0)
    .map(({ kind, n }) => `${n} ${kind}`)
    .join(', ');
}

/** What is out of the ordinary about an item, in a few words each. */
export function oddities({ before_answers, gone, replaced_by, state, copy_of }: MemoryRow): readonly string[] {
  return [
    ...(before_answers === null ? [] : ['written before any reader had answered']),
    ...(gone === null ? [] : [gone]),
    ...(replaced_by === null ? (state === 'live' ? [] : [state]) : ['replaced']),
    ...(copy_of === null ? [] : ['a copy']),
  ];
}

/** Which swarm had no answer when an item was written. */
export function earlyWords({ swarm, tasks }: NonNullable<MemoryRow['before_answers']>): string {
  return `The swarm ${safe(swarm)} had ${amount(tasks, 'task')} and no answer yet.`;
}

/** Why a holder may read an item or not. */
export function reasonWords({ reason, role, by_name, by, patterns }: ReaderRow): string {
  const whose = safe(by_name ?? cellName(by ?? ''));
  const named = patterns === null || patterns.length === 0 ? 'nothing' : patterns.map(safe).join(', ');
  const words: Readonly<Record<ReaderRow['reason'], string>> = {
    operator: 'may do everything',
    owner: 'the store is its own',
    member: `a member of the group, as ${safe(role ?? '')}`,
    rights: `the rights of ${whose} name ${named}`,
    not_narrowed: 'no rights narrow what it may read',
    not_member: 'a person who is not in the group',
    not_own_agent: 'a person who did not make the agent that brought it back',
    narrowed: `the rights of ${whose} name ${named}`,
    held: `${whose} holds it to ${named}`,
    expired: `the rights of ${whose} have ended`,
    broken: 'a cell above it has ended or was made anew',
  };
  return words[reason];
}

/** A session without the id of its agent, whose name stands for it: `cleo, in its session hard-cleo`. */
export function sessionWords(of: Owner): string {
  const { agent, entity, session } = of;
  if (agent === null || entity === null || session?.startsWith(`${entity}/`) !== true) return ownerName(of);
  return `${safe(agent)}, in its session ${safe(session.slice(entity.length + 1))}`;
}

const JOB = 'work/Job@1/';

/** A holder by name. */
export function holderName({ of }: ReaderRow): string {
  if (of?.cell.startsWith(JOB) === true) return `job ${safe(of.cell.slice(JOB.length))}`;
  return of === null ? 'the operator' : of.session === null && of.agent !== null ? safe(of.agent) : ownerName(of);
}

/** A score of trust: `0.65`. */
export function score(ppm: number): string {
  return (ppm / 1_000_000).toFixed(2);
}
