/** The questions of the page, by name. */
import { RepriseError } from '@reprise/contracts';
import { toJson } from '@reprise/operators/text';
import { readParameters } from '../ask/parameters.js';
import { patientStore } from '../ask/patient-store.js';
import type { Inspected, Question } from '../ask/question.js';
import { type ApiAnswer, type ApiRequest, JSON_TYPE, Refusal } from '../http/index.js';
import { cost, diff, prompt, rights, sessions, society, story, waiting } from './answers.js';
import { blob } from './blob.js';
import { cells } from './cells.js';
import { follow } from './follow.js';
import { now } from './now.js';
import { record, records } from './records.js';
import { search } from './search.js';
import { state } from './state.js';
import { strip } from './strip.js';
import { team } from './team.js';
import { tree } from './tree.js';
import { trouble } from './trouble.js';
import { Verifications, type Verify } from './verify.js';
import { world } from './world.js';

const QUESTIONS: Readonly<Record<string, Question>> = {
  ...{ world, sessions, now, waiting, cost, diff, rights, society, prompt, trouble, story },
  ...{ strip, cells, state, tree, team, records, record, blob, search },
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
    const question = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name] : undefined;
    if (question === undefined) throw unknown(name);
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
