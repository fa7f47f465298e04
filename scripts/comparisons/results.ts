/**
 * The results of the rows of the divergence matrix in other systems: read from the output of each probe, stored in
 * `results.json`, shown beside ours. Every result was run; a row that was not run is marked, with the reason.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `found`: the system reports it. `prevented`: it cannot happen, or cannot differ. `silent`: the system continues without
 * a report. `left to you`: silent, but the result differs, so a caller who stored the earlier result could see it.
 */
export type Outcome = 'found' | 'prevented' | 'silent' | 'left to you';

/** The result of one row. */
export interface ComparisonResult {
  readonly outcome: Outcome;
  readonly says: string;
}

/** The results of a comparison's probe, with date and versions. */
export interface ComparisonRun {
  readonly date: string;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
  /** By the row's title. */
  readonly rows: Readonly<Record<string, ComparisonResult>>;
}

/** Everything that was run. */
export type ComparisonResults = Readonly<Record<ComparisonName, ComparisonRun>>;

/** A comparison: its packages, the rows that are tried, and its own promises. */
export interface Comparison {
  readonly title: string;
  /** The tested package comes first. */
  readonly packages: Readonly<Record<string, string>>;
  /** The setup, for people. */
  readonly done: string;
  /** The promises on its own pages, with a link. */
  readonly promises: string;
  /** Reads the output of its probe. */
  read(printed: unknown): Readonly<Record<string, ComparisonResult>>;
  /** Rows that were not done there, and why; those without a reason were not tried. */
  readonly none: Readonly<Record<string, string>>;
}

/** The names of the comparisons; each has a folder with its probe. */
export const COMPARISON_NAMES = ['temporal', 'dbos', 'effect', 'xstate'] as const;

/** The name of a comparison. */
export type ComparisonName = (typeof COMPARISON_NAMES)[number];

/** The recorded run, which must replay silently: a probe that reports an error for it is wrong. */
const SOUND = 'what was recorded';

interface Replayed {
  readonly said: string | null;
  /** The refusal of the attempt to break it, so that nothing broken was replayed. */
  readonly refused?: string;
  /** The result of the control. */
  readonly recorded?: unknown;
  readonly result?: unknown;
  readonly performedAgain?: readonly (readonly [string, unknown])[];
  readonly seen?: readonly unknown[];
  readonly differsAt?: number | null;
}

function requireSound({ said, differsAt }: Replayed): void {
  if (said !== null || (differsAt ?? null) !== null) throw new Error(`the sound one is not replayed: ${said}`);
}

function each(
  results: Readonly<Record<string, Replayed>>,
  judge: (replayed: Replayed, row: string) => ComparisonResult,
) {
  const { [SOUND]: sound, ...others } = results;
  if (sound === undefined) throw new Error('nothing sound was replayed');
  requireSound(sound);
  return Object.fromEntries(Object.entries(others).map(([row, replayed]) => [row, judge(replayed, row)]));
}

const SILENT: ComparisonResult = { outcome: 'silent', says: 'replayed without a word' };

const brief = (value: unknown) => `\`${JSON.stringify(value)}\``;

function readTemporal(printed: unknown): Record<string, ComparisonResult> {
  const { results, here, elsewhere } = printed as {
    readonly results: Readonly<Record<string, string | null>>;
    readonly here: Ambient;
    readonly elsewhere: Ambient;
  };
  const said = Object.fromEntries(Object.entries(results).map(([row, text]) => [row, { said: text }]));
  const rows = each(said, ({ said: text }) => (text === null ? SILENT : { outcome: 'found', says: heartOf(text) }));
  return { ...rows, ...ambientIn(here, elsewhere) };
}

interface Ambient {
  readonly told: readonly Readonly<Record<string, unknown>>[];
  readonly said: readonly (string | null)[];
}

function ambientIn(here: Ambient, elsewhere: Ambient): Record<string, ComparisonResult> {
  const [first = {}, again = {}] = here.told;
  const [other = {}] = elsewhere.told;
  if ([...here.said, ...elsewhere.said].some((said) => said !== null)) throw new Error('asking is not replayed');
  const rows = Object.entries(first).map(([name, value]) => [
    `ambient: ${name}`,
    ambientResult(value, again[name], other[name]),
  ]);
  return Object.fromEntries(rows) as Record<string, ComparisonResult>;
}

function ambientResult(value: unknown, again: unknown, elsewhere: unknown): ComparisonResult {
  if (value === 'undefined') return { outcome: 'prevented', says: 'it is not there' };
  if (value === again && value === elsewhere) return { outcome: 'prevented', says: 'the same answer in every replay' };
  return { outcome: 'silent', says: `another answer: ${brief(value)}, ${brief(value === again ? elsewhere : again)}` };
}

/** Few enough characters for a table. */
const SAYS_MAX = 160;

/** The heart of a long message. */
function heartOf(text: string): string {
  const [, message] = /message: \\?"(.*?)\\?", source/.exec(text) ?? [];
  const heart = (message ?? text).replaceAll('\\', '').replace(/: HistoryEvent \{.*/, '');
  return heart.length <= SAYS_MAX ? heart : `${heart.slice(0, SAYS_MAX)}…`;
}

function readReplayed(printed: unknown): Record<string, ComparisonResult> {
  const { results } = printed as { readonly results: Readonly<Record<string, Replayed>> };
  return each(results, ({ said, refused, recorded, result, performedAgain = [], seen }) => {
    if (refused !== undefined) return { outcome: 'prevented', says: refused };
    if (said !== null) return { outcome: 'found', says: said.replace(/[0-9a-f-]{36}/, '…') };
    if (seen !== undefined) return { outcome: 'silent', says: `another answer: ${seen.map(brief).join(', ')}` };
    const again = performedAgain.map(([name]) => name);
    if (again.length > 0) return { outcome: 'silent', says: `performs what it has no record of: ${again.join(', ')}` };
    if (JSON.stringify(recorded) === JSON.stringify(result)) return SILENT;
    return { outcome: 'left to you', says: `says nothing; another result: ${brief(result)}` };
  });
}

function readXState(printed: unknown): Record<string, ComparisonResult> {
  const { results } = printed as { readonly results: Readonly<Record<string, Replayed>> };
  return each(results, ({ said, differsAt }) => {
    if (said !== null) return { outcome: 'found', says: said };
    if ((differsAt ?? null) === null) return { outcome: 'silent', says: 'goes on without a word' };
    return { outcome: 'left to you', says: `says nothing; step ${differsAt} compares as different` };
  });
}

/** What Effect's engine for tests keeps cannot be changed from outside; its engine on a cluster was not run. */
const KEPT_IN_MEMORY = 'the engine in memory has no store to change';

/** Every comparison. */
export const COMPARISONS: Readonly<Record<ComparisonName, Comparison>> = {
  temporal: {
    title: 'Temporal',
    packages: Object.fromEntries(
      ['worker', 'activity', 'client', 'common', 'proto', 'workflow'].map((name) => [`@temporalio/${name}`, '1.24.0']),
    ),
    done: '`Worker.runReplayHistory` on histories of the order, written by hand as a worker of this version writes them, since no server ran',
    promises:
      'Replay compares [commands with events](https://docs.temporal.io/encyclopedia/event-history/event-history-typescript): which activities, timers and children, in which order. What they are given, how long they take and what a workflow returns may be changed on purpose and is not compared.',
    read: readTemporal,
    none: {
      'changed code: a renamed event': 'the order sends no events',
      'integrity: a forged state': 'no state is recorded',
    },
  },
  dbos: {
    title: 'DBOS',
    packages: { '@dbos-inc/dbos-sdk': '5.3.0', pg: '8.23.1' },
    done: '`DBOS.forkWorkflow` behind the last step of an order that was recorded in a PostgreSQL of its own, so that each recorded step is replayed',
    promises:
      'A workflow that is started again takes [the recorded output of each step](https://docs.dbos.dev/explanations/how-workflows-work), and has to be deterministic; the name of each step is compared with the recorded one. A [breaking change](https://docs.dbos.dev/typescript/tutorials/upgrading-workflows) is another step or another order of steps, and such code gets its own version; the probe gives both the same version, as an author who forgot it would.',
    read: readReplayed,
    none: {
      'changed code: an effect’s deadline': 'steps have none',
      'changed code: a renamed event': 'the order sends no events',
      'integrity: a forged state': 'no state is recorded',
    },
  },
  effect: {
    title: 'Effect workflow',
    packages: { effect: '4.1.0' },
    done: 'its engine in memory: the order runs to a gate, its code changes, the gate opens, and its body runs again over the kept results',
    promises:
      'An [activity](https://effect.website/docs/v4/api/effect/unstable/workflow/Activity) has a stable name, under which its result is kept and replayed. No comparison is promised; the module is marked unstable.',
    read: readReplayed,
    none: {
      'changed code: an effect’s deadline': 'activities have none',
      'changed code: a renamed event': 'the order sends no events',
      'integrity: a cut tail': KEPT_IN_MEMORY,
      'integrity: a frame that is gone': KEPT_IN_MEMORY,
      'integrity: frames in another order': KEPT_IN_MEMORY,
      'integrity: a forged state': 'no state is recorded',
      'receipts and writers: a receipt twice': KEPT_IN_MEMORY,
      'receipts and writers: a receipt with another payload': KEPT_IN_MEMORY,
      'receipts and writers: a receipt that is gone': KEPT_IN_MEMORY,
    },
  },
  xstate: {
    title: 'XState',
    packages: { xstate: '5.33.3' },
    done: 'the pure `transition()`, led by the recorded events; an actor that goes on from a persisted snapshot',
    promises:
      '[Pure transitions](https://stately.ai/docs/pure-transitions) and [snapshots to persist and restore](https://stately.ai/docs/persistence). It keeps no journal and promises no check: what is kept and compared is the app’s.',
    read: readXState,
    none: {
      'changed code: an effect’s deadline': 'actions have none',
      'changed code: a plan’s input': 'there are no plans',
    },
  },
};

/** The path of the stored results. */
export const RESULTS_FILE = fileURLToPath(new URL('results.json', import.meta.url));

/** The stored results. */
export function readResults(): ComparisonResults {
  return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as ComparisonResults;
}

/** The rows that were run anywhere, in the order of the matrix. */
export function rowsRun(comparisons: ComparisonResults, titles: readonly string[]): string[] {
  const run = new Set(COMPARISON_NAMES.flatMap((name) => Object.keys(comparisons[name].rows)));
  return titles.filter((title) => run.has(title));
}

/** The text of a comparison's cell for a row. */
export function cellOf(results: ComparisonResults, name: ComparisonName, row: string): string {
  const result = results[name].rows[row];
  if (result !== undefined) return `**${result.outcome}**: ${result.says}`;
  const why = COMPARISONS[name].none[row];
  return why === undefined ? 'not tried' : `not done: ${why}`;
}
