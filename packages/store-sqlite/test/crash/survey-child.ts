/**
 * The sample world's survey in a process that dies at a given step. Argument: a {@link Job} as JSON.
 *
 * Everything that kills, counts or listens is here, around the store, the tools and the model: `survey()` and the
 * library are exactly what an app runs. Lines on standard output, each written before anything else happens:
 * `found {…}` at the opening (see `quarantine.ts`), `ack <seq> <head>` after each append, `told <call>` when the model reads that an outcome is unknown,
 * `moment <side> <step>` just before the blow, `done {…}` or `failed <code> <message>` at the end.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { OpenStore } from '@reprise/kernel';
import { isRepriseError } from 'reprise';
import { type ModelClient, openAiCompatible } from 'reprise/providers';
import { type Store, sqlite } from 'reprise/sqlite';
import type { Tool } from 'reprise/tools';
import { MODEL_NAME, startModelServer } from '../../../../examples/headless-world/src/model-server.js';
import { survey } from '../../../../examples/headless-world/src/survey.js';
import type { Opening } from './quarantine.js';
import { type Blow, type Moment, Steps } from './steps.js';

/** The job of the process. */
export interface Job {
  readonly folder: string;
  /** The paths of the world and the report. */
  readonly out: string;
  /** The file where every execution of a tool is counted, outside the world. */
  readonly ledger: string;
  /** Every tool, reading ones too, is offered as one that may happen once: more of them to fall upon. */
  readonly once?: boolean;
  readonly moment?: Moment;
  readonly blow?: Blow;
}

/** The end of the survey, when it was allowed to end. */
export interface Done {
  readonly stop: string;
  readonly text: string;
  readonly resumed: boolean;
  /** The names of its steps. */
  readonly steps: readonly string[];
  readonly frames: number;
}

const job = JSON.parse(process.argv[2] ?? '{}') as Job;
const steps = new Steps(job.moment, job.blow ?? 'SIGKILL', say);
const ledger = openSync(job.ledger, 'a');

const server = await startModelServer();
try {
  const { outcome, verified, resumed } = await survey({
    folder: job.folder,
    out: job.out,
    store: stepped(sqlite(path.join(job.out, 'world.db'))),
    model: overheard(openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME })),
    wrapTool: counted,
  });
  const stop = outcome.stop.kind;
  const done: Done = { stop, text: outcome.text, resumed, steps: steps.names, frames: verified.frames };
  say(`done ${JSON.stringify(done)}`);
} catch (error) {
  say(`failed ${isRepriseError(error) ? error.code : 'unknown'} ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  await server.close();
  closeSync(ledger);
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** A store whose every write is a step, and which prints its acknowledgements. */
function stepped(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await steps.take('open', async () => found(await store.open()));
      const { journal, content } = open;
      return {
        ...open,
        journal: {
          ...journal,
          append: async (frames, expected) => {
            const head = await steps.take('append', () => journal.append(frames, expected));
            say(`ack ${head.seq} ${head.digest}`);
            return head;
          },
        },
        content: { ...content, put: (bytes) => steps.take('put', () => content.put(bytes)) },
        mark: (note) => steps.take('mark', () => open.mark(note)),
        close: () => steps.take('close', () => open.close()),
      };
    },
  };
}

/** Prints the state that the last process left. */
async function found(open: OpenStore): Promise<OpenStore> {
  const { seq } = await open.journal.head();
  const opening: Opening = { seq, clean: open.cleanlyClosed, mark: open.markAtOpen };
  say(`found ${JSON.stringify(opening)}`);
  return open;
}

/** A tool whose start and end are steps, counted where no crash of the world can uncount them. */
function counted(tool: Tool): Tool {
  const guarantee = job.once === true ? 'at_most_once' : tool.entry.guarantee;
  return {
    ...tool,
    entry: { ...tool.entry, guarantee },
    run: async (args, context) => {
      const entry = `${context.idempotencyKey} ${guarantee} ${tool.name}`;
      await steps.take(`start ${tool.name}`, async () => note(`start ${entry}`));
      const result = await tool.run(args, context);
      await steps.take(`end ${tool.name}`, async () => note(`end ${entry}`));
      return result;
    },
  };
}

/** Durable when it returns, in one write: processes may share the file. */
function note(line: string): void {
  writeSync(ledger, `${line}\n`);
  fsyncSync(ledger);
}

/** A model that prints when it reads that the outcome of a call is unknown. */
function overheard(model: ModelClient): ModelClient {
  return {
    ...model,
    generate: (request, context) => {
      for (const message of request.messages) {
        if (message.role === 'tool' && message.text.includes('The outcome of this call is unknown')) {
          say(`told ${message.callId}`);
        }
      }
      return model.generate(request, context);
    },
  };
}
