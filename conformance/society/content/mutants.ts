/**
 * A mistake for each path by which content reaches an entity, and the seed of a world that finds it.
 *
 * A seed is good until the acts of worlds change: `society-content.ts --mutants` finds new ones.
 */
import { fileURLToPath } from 'node:url';
import { foundBy } from '../../broken-build.js';

/** A mistake in one file of the sources. */
export interface Mutant {
  readonly what: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The world that finds it. */
  readonly seed: number;
}

const LAWS = fileURLToPath(new URL('laws.ts', import.meta.url));

/** What worlds from a seed on say of a mistake; undefined where they find nothing. */
export function foundIn({ file, from, to }: Mutant, worlds: number, seed: number): Promise<string | undefined> {
  return foundBy(LAWS, 'content', { file: sourceOf(file), from, to }, [worlds, seed], { apart: true });
}

/** The absolute path of a file of the packages. */
export function sourceOf(file: string): string {
  return fileURLToPath(new URL(`../../../packages/${file}`, import.meta.url));
}

const REDUCER = 'society/src/pure/reducer';
const INBOX = `${REDUCER}/inbox/published.ts`;
const GATE = 'society/src/pure/plans/content-gate.ts';
const SERVED = 'society/src/served/inbox.ts';
const MEMORY = 'org/src/pure/store/effects.ts';
const MAY_ASK = `${REDUCER}/rights/may-ask.ts`;
const REVIEWS = `${REDUCER}/staging/reviews.ts`;
const RETURNS = `${REDUCER}/staging/returns.ts`;
const CONSENT = `${REDUCER}/group/consent.ts`;
const AUTOMATIC = 'society/src/pure/compile/automatic.ts';

function mutant(what: string, file: string, [from, to]: readonly [string, string], seed: number): Mutant {
  return { what, file, from, to, seed };
}

/** News: prompts, inboxes, boards, resources and notifications. */
const NEWS: readonly Mutant[] = [
  mutant(
    'news of a chatty group enters inboxes by membership alone',
    INBOX,
    ["if (!seen.some(({ verdict }) => verdict !== 'denied')) return;", ''],
    3,
  ),
  mutant(
    'news on a board enters inboxes by membership alone',
    `${REDUCER}/inbox/board-reading.ts`,
    ['if (isOfItem({ event }) && !sees) return false;', ''],
    1,
  ),
  mutant(
    'reads and news are not judged for the store',
    MEMORY,
    ["rights: { mem_read: 'store' },\n  settledBy: 'at',", "settledBy: 'at',"],
    1,
  ),
  mutant('a denial counts as something that is read later', GATE, ["? 'denied' : 'later'", "? 'later' : 'later'"], 1),
  mutant(
    'words of items that are not in use are shown',
    GATE,
    ["return state === 'live' &&", "return state !== 'quarantined' &&"],
    50,
  ),
  mutant(
    'what is shown to a suspended agent enters its session at once',
    INBOX,
    ['mayOperate(draft) && !isLater', '!isLater'],
    4,
  ),
  mutant(
    'news goes to sessions that do not run',
    INBOX,
    ['(open && running ? [name] : [])', '(open ? [name] : [])'],
    4,
  ),
  mutant('news for a next run is never shown', INBOX, ['show: steer && running.length === 0', 'show: false'], 3),
  mutant(
    'what a run was shown is not marked as shown',
    `${REDUCER}/inbox/news.ts`,
    ['{ ...row, show: false }', '{ ...row, show: true }'],
    4,
  ),
  mutant(
    'clients are told of items that their entity may not read',
    SERVED,
    ['store === undefined || (await reaches(kernel, id, store))', 'true'],
    1,
  ),
  mutant(
    'a resource shows boards without a reading',
    SERVED,
    ['if (unread !== undefined) await', 'if (unread === null) await'],
    1,
  ),
  mutant(
    'the inbox of an entity is read by others',
    SERVED,
    ['if (!own || (await', 'if (own === undefined || (await'],
    1,
  ),
  mutant(
    'a person is shown the words of a group that it left',
    MAY_ASK,
    [
      "if (group !== undefined) return ctx.table('memberships').get(group) !== undefined;",
      'if (group !== undefined) return true;',
    ],
    21,
  ),
  mutant(
    'a member hears what came before it was one',
    `${REDUCER}/group/board.ts`,
    ['Math.max(after, row.posted)', 'after'],
    1,
  ),
];

/** Reads, searches, copies and verdicts. */
const READS: readonly Mutant[] = [
  mutant(
    'a search is not judged for the store',
    MEMORY,
    ["rights: { mem_read: 'store' },\n}));\n\n/** A step", '}));\n\n/** A step'],
    1,
  ),
  mutant(
    'a search finds items that are not in use',
    'society/src/pure/plans/memory.ts',
    ['searchAsked(plan, store, { query, k, all: false })', 'searchAsked(plan, store, { query, k, all: true })'],
    7,
  ),
  mutant(
    'items in quarantine are listed to others than their author',
    'society/src/pure/plans/memory.ts',
    ["item.state === 'live' || isOwn(own, item)", "item.state === 'live' || item.state === 'quarantined'"],
    2,
  ),
  mutant(
    'a model is shown the words of what is in quarantine',
    'society/src/pure/plans/memory.ts',
    ["const live = page.items.filter(({ state }) => state === 'live').map", 'const live = page.items.map'],
    271,
  ),
  mutant(
    'a suspended agent is answered',
    MAY_ASK,
    ["(status !== 'registered' && status !== 'active')", "status === 'deactivated'"],
    2,
  ),
  mutant(
    'what is taken from a failed agent is cut nowhere',
    `${REDUCER}/status/holds.ts`,
    ['const met = narrowed === null ? cut.left : meet(narrowed, cut.left);', 'const met = narrowed ?? EVERYTHING;'],
    36,
  ),
  mutant(
    'a viewer writes',
    `${REDUCER}/memory/memory.ts`,
    ["(role === undefined || role === 'viewer')", '(role === undefined)'],
    5,
  ),
  mutant(
    'a person judges items that it may not read',
    `${REDUCER}/memory/trust.ts`,
    ['if (!mayAsk(draft, itemOf(item_id).store, ctx)) return', 'if (item_id === null) return'],
    22,
  ),
  mutant(
    'an entity validates what it has in doubt itself',
    `${REDUCER}/memory/memory.ts`,
    ["if (standing === 'self' || ", 'if ('],
    7,
  ),
  mutant(
    'an agent validates what those above it have in doubt',
    `${REDUCER}/memory/memory.ts`,
    [" || standing === 'below' ||", ' ||'],
    30,
  ),
  mutant(
    'the archive of an agent stands where others read it',
    `${REDUCER}/memory/archive.ts`,
    ['const store = storeOf.private(idOf(ctx));', "const store = storeOf.group('a');"],
    34,
  ),
  mutant(
    'a maker sees events in the hot context of an agent',
    `${REDUCER}/memory/hot.ts`,
    ['event_queue: entity_id === idOf(ctx) ? latest : [] }', 'event_queue: latest }'],
    4,
  ),
  mutant(
    'every entity is told what an agent may do',
    'society/src/pure/contracts/entity/entity.ts',
    [
      'z.exactOptional(z.literal(true)),\n    }),\n    by.above(ENTITY),\n  ),\n  /** The answer to it',
      'z.exactOptional(z.literal(true)),\n    }),\n    by.any,\n  ),\n  /** The answer to it',
    ],
    4,
  ),
  mutant(
    'everyone reads the hot context of an agent',
    'society/src/pure/contracts/memory/l1.ts',
    [
      'from(z.strictObject({ call: z.string().max(64) }), ownEntity, parentEntity)',
      'from(z.strictObject({ call: z.string().max(64) }), by.any)',
    ],
    106,
  ),
  mutant(
    'a revived agent is judged between two changes of what it may do',
    `${REDUCER}/entity/revived.ts`,
    ['ctx.timer(TOLD_ALL, ctx.now);', 'revivedTimer(draft, TOLD_ALL, ctx);'],
    90_235,
  ),
  mutant(
    'a revived member hears nothing any more',
    'org/src/pure/flow/topic.ts',
    ['if (FAILED.includes(code)) return;', ''],
    84,
  ),
];

/** Staging, merges and forks. */
const STAGING: readonly Mutant[] = [
  mutant(
    'every person reads what agents have brought back',
    MAY_ASK,
    [
      "return staging !== undefined && ctx.table('staged').get(staging) !== undefined;",
      'return staging !== undefined;',
    ],
    27,
  ),
  mutant(
    'every agent reads what others have brought back',
    'society/src/pure/compile/compile-rights.ts',
    [
      'const returned = [of.agent_id, ...(of.reviews ?? [])].map(',
      "const returned = ['staging:*'];\n  [of.agent_id].map(",
    ],
    22,
  ),
  mutant(
    'what was decided on is read on',
    REVIEWS,
    ["    ctx.send(stagingAt(key), { name: 'society/EndStaging@1', value: {} });\n", ''],
    11,
  ),
  mutant(
    'an agent hears of conflicts in stores that it may not read',
    RETURNS,
    ["store === of && verdict !== 'denied'", 'store === of'],
    9,
  ),
  mutant(
    'conflicts are found in stores that the parent may not read',
    'society/src/pure/contracts/staging/returns.ts',
    ["rights: { mem_read: 'store' },", ''],
    223,
  ),
  mutant(
    'returns of an agent of medium trust are merged without a review',
    AUTOMATIC,
    ["tier === 'high' && willing", 'willing'],
    6,
  ),
  mutant('returns that conflict are merged without a review', AUTOMATIC, ['willing && conflicts === 0', 'willing'], 58),
  mutant(
    'returns that diverged far are merged without a review',
    AUTOMATIC,
    ['divergence <= IDENTITY_BOUNDS.automatic', 'divergence <= IDENTITY_BOUNDS.unforced'],
    171,
  ),
  mutant(
    'returns for groups that the agent may not write to are merged without a review',
    RETURNS,
    ['draft.automerge && mayWrite && !wasNarrowed', 'draft.automerge && !wasNarrowed'],
    251,
  ),
  mutant(
    'returns of a narrowed agent are merged without a review',
    RETURNS,
    ['draft.automerge && mayWrite && !wasNarrowed', 'draft.automerge && mayWrite'],
    17,
  ),
  mutant(
    'a forced review is approved at once',
    REVIEWS,
    [
      "if (decision === 'approve' && reviewOf(row) === 'forced')",
      "if (decision === 'approve' && reviewOf(row) === undefined)",
    ],
    23,
  ),
  mutant(
    'a parent takes items over into groups that it may not write to',
    REVIEWS,
    ['      requireWritable(draft, to, ctx);\n    });', '    });'],
    20,
  ),
  mutant(
    'an agent brings back from a fork what others wrote there',
    'society/src/api/merge-fork.ts',
    ['authorOf(item) !== author || isLeft', 'isLeft'],
    27,
  ),
  mutant(
    'a parent brings back from a fork what it merged there without a review',
    'society/src/api/merge-fork.ts',
    ['authorOf(item) !== author || isLeft', 'item.author !== author || isLeft'],
    17,
  ),
  mutant(
    'a parent hears of what it merged without a review',
    `${REDUCER}/inbox/news.ts`,
    ['return by === id || merged_by === id;', 'return by === id;'],
    93,
  ),
];

/** Consent and swarms. */
const SWARMS: readonly Mutant[] = [
  mutant(
    'anyone makes an agent lead a swarm',
    'society/src/pure/contracts/entity/entity.ts',
    [
      'z.strictObject({ swarm_id: nameId, group: nameId }), by.above(ENTITY))',
      'z.strictObject({ swarm_id: nameId, group: nameId }), by.any)',
    ],
    7,
  ),
  mutant(
    'an agent that does not act leads a swarm',
    CONSENT,
    ["if (!mayOperate(draft)) ctx.reject('agent_not_active');", ''],
    2,
  ),
  mutant(
    'an agent that may not use the group leads a swarm',
    CONSENT,
    ["if (!permits(compiledOf(draft, ctx).exercise, 'group', group)) ctx.reject('capability_denied');", ''],
    150,
  ),
  mutant(
    'the owner of a group makes every entity a member',
    CONSENT,
    ["if (isNew && !consents(draft, { group, by }, ctx)) ctx.reject('not_authorized');", ''],
    1,
  ),
  mutant(
    'every entity is told how far a swarm is',
    'society/src/pure/contracts/swarm/swarm.ts',
    ['from(swarmAsked, by.above(ENTITY), swarmCoordinator, swarmAgent)', 'from(swarmAsked, by.any)'],
    58,
  ),
  mutant(
    'an agent of a swarm is told what others of it have said',
    `${REDUCER}/swarm/tasks.ts`,
    [
      '...{ goal_ref, task_ref, input, budget: share },',
      `...{ goal_ref, task_ref, budget: share },
      input: swarmTable(ctx, 'tasks').range().flatMap(([, { output_ref: ref }]) => ref === null ? [] : [{ kind: 'llm_output', ref }])[0] ?? input,`,
    ],
    50,
  ),
  mutant(
    'an agent of a swarm reads the groups of others',
    'society/src/pure/compile/matrix.ts',
    ["'swarm-worker': row(['group:<swarm>']),", "'swarm-worker': row(['group:<member>']),"],
    14,
  ),
  mutant(
    'a group that has no members any more is read on',
    `${REDUCER}/group/group.ts`,
    ["tellAll(draft, mode === 'archive' ? 'terms' : 'end', ctx);", "tellAll(draft, 'terms', ctx);"],
    52,
  ),
];

/** All mistakes. */
export const MUTANTS: readonly Mutant[] = [...NEWS, ...READS, ...STAGING, ...SWARMS];
