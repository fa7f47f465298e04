/**
 * A process that sends messages to a world, one after another, each of which reaches the outside once. Argument: a
 * {@link HolderJob} as JSON. Lines: `open`, `ack N` for each message that was acknowledged, in the end `refused CODE` or
 * `rest`. After SIGTERM it sends no more messages and comes to rest.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Adapter,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  isRepriseError,
  openKernelWorld,
} from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

/** The job of the process. */
export interface HolderJob {
  readonly db: string;
  /** The file where the outside counts. */
  readonly ledger: string;
  /** The messages, from this number on. */
  readonly from: number;
  readonly count: number;
}

const message = z.strictObject({ n: z.int() });

const deliver = defineEffect({
  kind: 'holder.deliver@1',
  params: message,
  receipt: message,
  guarantee: 'at_most_once',
});

const plan = definePlan({
  name: 'holder/plan@1',
  input: message,
  effects: [deliver],
  *run(input, by) {
    yield* by.awaitReceipt(by.emitEffect(deliver, input));
  },
});

/** The app. */
export const app = defineApp({
  reducers: [
    defineReducer({
      name: 'holder/Inbox@1',
      state: z.strictObject({ seen: z.int() }),
      events: { 'holder/Sent@1': creates(message) },
      init: () => ({ seen: 0 }),
      reduce(draft, event, ctx) {
        draft.seen++;
        ctx.emit({ plan, input: event.value });
      },
    }),
  ],
  plans: [plan],
});

/** Starts the effect and answers some time later: a process that opens the world meanwhile finds the effect running. */
function outside(ledger: string): Adapter<z.infer<typeof message>, z.infer<typeof message>> {
  return {
    effect: deliver,
    name: 'ledger',
    concurrency: 4,
    doExecute: async (params) => {
      const file = openSync(ledger, 'a');
      writeSync(file, `${params.n}\n`);
      fsyncSync(file);
      closeSync(file);
      await sleep(60);
      return { status: 'ok', payload: params };
    },
  };
}

const say = (line: string): void => void writeSync(1, `${line}\n`);

if (process.argv[2] !== undefined) await run(JSON.parse(process.argv[2]) as HolderJob);

async function run({ db, ledger, from, count }: HolderJob): Promise<void> {
  let stop = false;
  process.once('SIGTERM', () => {
    stop = true;
  });
  try {
    const world = await openKernelWorld({ store: sqlite(db), app, adapters: [outside(ledger)] });
    say('open');
    for (let n = from; n < from + count && !stop; n++) {
      await world.request(['holder/Inbox@1', `m${n}`], { name: 'holder/Sent@1', value: { n } }, { id: `message ${n}` });
      say(`ack ${n}`);
      await sleep(15);
    }
    await world.pump();
    await world.close();
    say('rest');
  } catch (error) {
    say(`refused ${isRepriseError(error) ? error.code : String(error)}`);
    process.exit(1);
  }
}
