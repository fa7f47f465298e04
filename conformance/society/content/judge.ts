/** Judges random worlds: what the model and each tool shows is compared with what the oracle expects, word by word. */
import { fails } from './acts/failing.js';
import { forks } from './acts/forking.js';
import { archivesOrErases, shares, validates, writes } from './acts/items.js';
import { asksInVain, asksOfAgent, polls, readsItem, readsStore } from './acts/reading.js';
import { comesBack, readsStaging, reviews } from './acts/returning.js';
import { ends, judges, moves, narrows, suspends } from './acts/rights.js';
import { asks, duringRun, runs } from './acts/running.js';
import { asksOfSwarm, creates, delegates, disbands, invites } from './acts/swarming.js';
import type { FoundContent, Life } from './life.js';
import { openLife } from './opening.js';

/** How a run of worlds goes on. */
export interface ContentRun {
  /** Whether it goes on after a world that disagrees. */
  readonly keepGoing?: boolean;
  /** Called after each world. */
  readonly onWorld?: (found: FoundContent) => void;
}

/** One thing that happens in a world. */
type Act = (life: Life) => Promise<void>;

const STEPS = 13;
const STEPS_OF_FORK = 4;
const DRAWS = 8;
const BETWEEN_STEPS_MS = 1_000;

/** One world in so many is verified by replay at its end, and as many have a fork. */
const VERIFIED = 8;
const FORKED = 6;

/** What others do while an entity runs. */
const BESIDE: readonly Act[] = [
  ...[writes, writes, writes, shares, validates, narrows, moves, judges, archivesOrErases, comesBack, reviews, invites],
];

const beside: Act = (life) => duringRun(life, () => life.d.of(BESIDE)(life));
const pollsOne: Act = (life) => polls(life, life.d.of(life.members));

/** What happens, each as often as it is listed. */
const ACTS: readonly Act[] = [
  ...[writes, writes, writes, writes, writes, writes, shares, shares, validates, archivesOrErases],
  ...[narrows, narrows, moves, moves, judges, suspends, fails, fails, ends],
  ...[
    pollsOne,
    asksInVain,
    asksInVain,
    readsStore,
    readsStore,
    readsItem,
    readsItem,
    runs,
    runs,
    runs,
    asks,
    asks,
    beside,
    beside,
    beside,
  ],
  ...[comesBack, comesBack, reviews, reviews, readsStaging, readsStaging],
  ...[creates, creates, invites, delegates, delegates, asksOfSwarm, asksOfAgent, disbands, disbands],
];

/** Judges worlds from a seed on: the n-th world has the seed plus n. */
export async function judgeContent(worlds: number, seed: number, run: ContentRun = {}): Promise<FoundContent> {
  const found: FoundContent = {
    ...{ worlds: 0, requests: 0, answers: 0, shown: 0, withheld: 0, disagreements: 0 },
    ...{ acts: new Map(), refused: new Map(), seeds: new Map() },
  };
  while (found.worlds < worlds && (run.keepGoing === true || found.disagreements === 0)) {
    await judgeWorld(seed + found.worlds, found);
    found.worlds++;
    run.onWorld?.(found);
  }
  return found;
}

async function judgeWorld(seed: number, found: FoundContent): Promise<void> {
  const life = await openLife(seed, found);
  try {
    await within(lives(life));
  } catch (error) {
    life.disagree(`an error, expected none: ${(error as Error).stack ?? error}`);
  }
  life.scene.provider.release();
  await life.scene.world.close();
}

/** The time that one world may take: one that stands still is a disagreement. */
const PATIENCE_MS = 60_000;

async function within(life: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the world stands still, expected an end')), PATIENCE_MS);
  });
  await Promise.race([life, late]).finally(() => clearTimeout(timer));
}

async function lives(life: Life): Promise<void> {
  const forked = life.d.once(FORKED) ? life.d.below(STEPS) : STEPS;
  for (let step = 0; step < STEPS && !life.isOver; step++) {
    if (step === forked) await forks(life, livesApart);
    await steps(life);
  }
  await endsWith(life);
  if (life.isOver || !life.d.once(VERIFIED)) return;
  const { unverified } = await life.scene.world.verify();
  life.is('frames that were not verified', unverified, 0);
}

async function livesApart(fork: Life): Promise<void> {
  if (fork.d.once(2)) await comesBack(fork); // what is merged there without a review is the agent's to bring back
  for (let step = 0; step < STEPS_OF_FORK && !fork.isOver; step++) await steps(fork);
  await endsWith(fork);
}

/** Draws acts until one takes place: some have nothing to act on at the moment. */
async function steps(life: Life): Promise<void> {
  const before = life.done;
  for (let n = 0; n < DRAWS && life.done === before && !life.isOver; n++) await life.d.of(ACTS)(life);
  await life.scene.clock.advance(BETWEEN_STEPS_MS);
}

/** In the end the inboxes of some are compared. */
async function endsWith(life: Life): Promise<void> {
  for (const member of life.d.some(life.members)) if (!life.isOver && !member.node.failed) await polls(life, member);
}
