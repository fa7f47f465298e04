/** The questions of the page, by name. */
import { RepriseError } from '@reprise/contracts';
import { toJson } from '@reprise/operators/text';
import { readParameters } from '../ask/parameters.js';
import { patientStore } from '../ask/patient-store.js';
import type { Inspected, Question } from '../ask/question.js';
import { type ApiAnswer, type ApiRequest, JSON_TYPE, Refusal } from '../http/index.js';
import { follow } from './follow.js';
import { Verifications, type Verify } from './verify.js';

/** The questions by name. Each is loaded when it is asked first: the first screen needs few of them. */
const QUESTIONS: Readonly<Record<string, () => Promise<Question>>> = {
  world: async () => (await import('./world.js')).world,
  now: async () => (await import('./now.js')).now,
  sessions: async () => (await import('./sessions.js')).sessions,
  waiting: async () => (await import('./waiting.js')).waiting,
  cost: async () => (await import('./cost.js')).cost,
  diff: async () => (await import('./diff.js')).diff,
  rights: async () => (await import('./rights.js')).rights,
  memory: async () => (await import('./memory.js')).memory,
  readers: async () => (await import('./memory.js')).readers,
  trust: async () => (await import('./parts/society.js')).trust,
  society: async () => (await import('./parts/society.js')).society,
  prompt: async () => (await import('./prompt.js')).prompt,
  trouble: async () => (await import('./trouble.js')).trouble,
  story: async () => (await import('./story.js')).story,
  strip: async () => (await import('./raw/strip.js')).strip,
  cells: async () => (await import('./parts/cells.js')).cells,
  state: async () => (await import('./parts/state.js')).state,
  tree: async () => (await import('./parts/tree.js')).tree,
  team: async () => (await import('./parts/team.js')).team,
  records: async () => (await import('./raw/records.js')).records,
  record: async () => (await import('./raw/records.js')).record,
  blob: async () => (await import('./raw/blob.js')).blob,
  search: async () => (await import('./search.js')).search,
};

/** Answers the questions about one world. */
export class Api {
  readonly #verifications: Verifications;

  constructor(
    private readonly inspected: Inspected,
    verify: Verify,
  ) {
    this.#verifications = new Verifications(verify);
  }

  /** Answers one question. @throws Refusal 404 for an unknown one, and the errors of its answer */
  async answer({ name, query, signal }: ApiRequest): Promise<ApiAnswer> {
    if (name === 'follow' || name === 'verify') {
      readParameters({}, query);
      if (name === 'follow') return { type: 'text/event-stream', body: follow(this.inspected.store, signal) };
      return { type: 'application/x-ndjson; charset=utf-8', body: this.#verifications.run(signal) };
    }
    const load = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name] : undefined;
    if (load === undefined) throw unknown(name);
    const question = await load();
    const store = patientStore(this.inspected.store, signal);
    const report = await question.answer({ ...this.inspected, store, signal }, query);
    return { type: JSON_TYPE, body: `${toJson(report)}\n` };
  }
}

function unknown(actual: string): Refusal {
  const expected = [...Object.keys(QUESTIONS), 'follow', 'verify'].join(', ');
  return new Refusal(
    404,
    new RepriseError('invalid_argument', 'the server knows no such question', { expected, actual }),
  );
}
