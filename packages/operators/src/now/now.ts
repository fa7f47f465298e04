/** How a world is now, for a first look: one reading of the newest snapshot and of the frames behind it. */
import { shortText } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type SnapshotCell, type SnapshotLeaves, snapshotBefore } from '@reprise/kernel/inspect';
import { AttemptsFold, attemptRows } from '../attempts/attempts.js';
import type { AttemptRow } from '../attempts/report.js';
import { IdNames } from '../names/id-names.js';
import type { Owner } from '../names/owner.js';
import { REDUCERS } from '../names/reducers.js';
import type { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { AT_OPTIONS, requireQuestion } from '../page/require.js';
import { skimFrames } from '../skim/index.js';
import type { WaitingReport } from '../waiting/items.js';
import { reportOf } from '../waiting/pending.js';
import { WaitingFold } from '../waiting/world-state.js';
import { type CellFailure, FailuresFold } from './failed-cells.js';
import { answerText, LastAnswers } from './last-words.js';

/** The frame after which it is read, and how answers name the world. */
interface NowOfOptions {
  readonly at?: number;
  /** The path of the world, as it stands in the lines that answer; `WORLD` when absent. */
  readonly world?: string;
  readonly signal?: AbortSignal;
}

/** What a session said last. */
interface LastWords {
  readonly of: Owner;
  /** The frame and the index of the record: `12.3`. */
  readonly place: string;
  readonly at: number;
  readonly words: string;
}

/** How a world is after a frame. */
interface NowParts {
  /** Everything that waits, on one page; who has the world open is not said. */
  readonly pending: WaitingReport;
  /** What may have run twice since the newest snapshot; a late outcome of an older effect is not among it. */
  readonly attempts: readonly AttemptRow[];
  readonly failed: readonly CellFailure[];
  /** What sessions said last; the latest stands first. */
  readonly words: readonly LastWords[];
}

/** How many frames are looked at for last words, at least, and how many sessions are listed. */
const [WORD_FRAMES, WORDS_LISTED] = [64, 5];

/** The most characters of the words of one session. */
const WORDS_MAX = 600;

/**
 * Reads how a world is after a frame. The price is that of the open world and of the frames since the newest snapshot.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame
 */
export async function nowOf(store: ReadonlyStore, options: NowOfOptions = {}): Promise<NowParts> {
  requireQuestion('nowOf', store, options, { ...AT_OPTIONS, world: true });
  const { at, world = 'WORLD', signal } = options;
  const frame = await frameOf(store, at);
  const snapshot = await readOnce(await snapshotBefore(store, frame));
  const waiting = new WaitingFold();
  await waiting.load(snapshot);
  const attempts = new AttemptsFold(snapshot, snapshot.seq + 1);
  const failed = new FailuresFold(snapshot);
  const answers = new LastAnswers();
  const ids = new IdNames(store);
  const from = Math.max(0, Math.min(snapshot.seq + 1, frame + 1 - WORD_FRAMES));
  await skimFrames(store, { from, to: frame, signal }, (seq, time, records) => {
    answers.take(seq, time, records);
    if (seq <= snapshot.seq) return; // the snapshot says what it led to
    waiting.take(seq, time, records);
    attempts.take(seq, time, records);
    failed.take(seq, time, records);
    ids.take(records);
  });
  const { state } = waiting;
  return {
    pending: await reportOf(store, state, { frame, world, page: { limit: Number.MAX_SAFE_INTEGER } }),
    attempts: await attemptRows(store, attempts.found, state.names),
    failed: failed.failed,
    words: await lastWords(store, answers, { names: state.names, ids, read: snapshot.seq + 1 }),
  };
}

/** A snapshot whose cells are read once for all that looks at them: each reading goes through all cells of the world. */
async function readOnce(snapshot: SnapshotLeaves): Promise<SnapshotLeaves> {
  const { session, project, tree, entity } = REDUCERS;
  const all: SnapshotCell[] = [];
  for await (const cell of snapshot.cells([session, project, tree, entity])) all.push(cell);
  return {
    ...snapshot,
    async *cells(reducers) {
      for (const cell of all) if (reducers.includes(cell.address[0])) yield cell;
    },
  };
}

interface Naming {
  readonly names: WorldNames;
  readonly ids: IdNames;
  /** The first frame whose names are known. */
  readonly read: number;
}

async function lastWords(
  { content }: ReadonlyStore,
  answers: LastAnswers,
  { names, ids, read }: Naming,
): Promise<readonly LastWords[]> {
  const found: LastWords[] = [];
  for (const ofSession of answers.all) {
    const said = await newestWords(content, ofSession);
    if (said === undefined) continue;
    const words = await ids.words(shortText(said.text, WORDS_MAX), read);
    const { session, place, at } = said.answer;
    found.push({ of: names.ownerOf([REDUCERS.session, session]), place, at, words });
    if (found.length === WORDS_LISTED) break;
  }
  return found;
}

/** The newest answer of a session that has words. */
async function newestWords(content: ReadonlyStore['content'], answers: LastAnswers['all'][number]) {
  for (const answer of answers) {
    const text = await answerText(content, answer.output);
    if (text !== '') return { answer, text };
  }
  return undefined;
}
