/** A golden world of plans: one, any, all, deadlines, retry, peek, cancel, continueAs, denials, a crash inside. */
import type { Address, Value } from '@reprise/contracts';
import { value } from '@reprise/contracts';
import {
  type AdapterOutcome,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
} from '@reprise/kernel';
import { type ScriptedOutcome, scriptedAdapter } from '@reprise/testkit';
import * as z from 'zod';
import type { GoldenWorld } from './worlds.js';

const params = z.strictObject({ say: z.string() });
const effectOf = (kind: string, guarantee: 'idempotent' | 'at_most_once') =>
  defineEffect({ kind, params, receipt: z.strictObject({ said: z.string() }), guarantee });
const again = effectOf('golden.again@1', 'idempotent');
const once = effectOf('golden.once@1', 'at_most_once');
const forbidden = effectOf('golden.forbidden@1', 'idempotent');

const script = defineReducer({
  name: 'golden/Stage@1',
  state: z.strictObject({ heard: z.array(value()) }),
  events: {
    'golden/Begun@1': creates(z.strictObject({ part: z.string() })),
    'golden/Stopped@1': z.strictObject({}),
    'golden/Heard@1': z.strictObject({ what: value() }),
    'sys/PlanFailed@1': z.strictObject({ plan: value(), name: z.string(), code: z.string() }),
  },
  init: () => ({ heard: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'golden/Begun@1') ctx.emit({ plan: stage, input: { part: event.value.part, left: 2 } });
    else if (event.name === 'golden/Stopped@1') ctx.cancel('all');
    else draft.heard.push(event.value as unknown as Value);
  },
});

const stage = definePlan({
  name: 'golden/stage_plan@1',
  input: z.strictObject({ part: z.string(), left: z.int() }),
  effects: [again, once, forbidden],
  *run({ part, left }, plan) {
    const tell = (what: Value) => plan.raiseEvent({ name: 'golden/Heard@1', value: { what } });
    const say = (text: string, timeoutMs?: number) =>
      plan.emitEffect(again, { say: text }, timeoutMs === undefined ? {} : { timeoutMs });
    switch (part) {
      case 'any': {
        const [slow, quick] = [say('slow'), say('quick')];
        tell(firstOf(yield* plan.awaitAny([slow, quick], { within: 5_000 })));
        tell(firstOf(yield* plan.awaitAny([slow], { within: 5_000 })));
        tell((yield* plan.awaitReceipt(slow)).status);
        return;
      }
      case 'queue': {
        // Both receipts are there when the plan asks: the earlier one is first, whatever their order here.
        const [late, early, last] = [say('slow'), say('quick'), say('slow', 1_000)];
        tell((yield* plan.awaitReceipt(early)).status);
        yield* plan.awaitReceipt(last);
        tell(firstOf(yield* plan.awaitAny([late, early])));
        tell(firstOf(yield* plan.awaitAny([early, late])));
        return;
      }
      case 'all': {
        const receipts = yield* plan.awaitAll([say('slow'), say('quick'), plan.emitEffect(forbidden, { say: 'no' })]);
        tell(receipts?.map(({ status }) => status) ?? null);
        return;
      }
      case 'retry':
        tell((yield* plan.retry(again, { say: 'flaky' }, { max: 3, on: ({ status }) => status !== 'ok' })).status);
        return;
      case 'peek':
        tell([yield* plan.peek(plan.cell), yield* plan.peek(['golden/Stage@1', 'nobody']), plan.now]);
        return;
      case 'cancel': {
        const handle = say('slow');
        plan.cancel(handle);
        tell((yield* plan.awaitReceipt(handle)).status);
        return;
      }
      case 'crash':
        tell((yield* plan.awaitReceipt(plan.emitEffect(once, { say: 'lost' }))).status);
        return;
      case 'timeout':
        tell((yield* plan.awaitReceipt(say('slow', 1_000))).status);
        return;
      case 'again':
        tell(left);
        if (left > 0) plan.continueAs({ part, left: left - 1 });
        return;
      default:
        throw new TypeError(`no such part: ${part}`);
    }
  },
});

function firstOf(
  first: { readonly handle: { readonly emission: number }; readonly receipt: { readonly status: string } } | null,
): Value {
  return first === null ? 'late' : [first.handle.emission, first.receipt.status];
}

const cell = (key: string): Address => ['golden/Stage@1', key];
const PARTS = [
  'any',
  'queue',
  'all',
  'retry',
  'peek',
  'cancel',
  'crash',
  'timeout',
  'again',
  'nonsense',
  'stopped',
] as const;

/** The answers of the outside: some at once, some when they are released, `flaky` with success at its third try. */
function outsideOf(): ReturnType<typeof scriptedAdapter<{ say: string }, { said: string }>>[] {
  let flaky = 0;
  const answer = ({
    params: { say },
  }: {
    readonly params: { readonly say: string };
  }): ScriptedOutcome<{ said: string }> => {
    const ok: AdapterOutcome<{ said: string }> = { status: 'ok', payload: { said: say }, usage: { calls: 1 } };
    if (say === 'slow') return { hang: ok };
    if (say === 'lost') return { never: true };
    if (say === 'flaky') flaky++;
    return say === 'flaky' && flaky < 3 ? { status: 'error', code: 'adapter_error/flaky', retryable: true } : ok;
  };
  return [
    scriptedAdapter(again, answer, { concurrency: 99 }),
    scriptedAdapter(once, answer),
    scriptedAdapter(forbidden, []),
  ];
}

/** Plans. */
export const planWorld: GoldenWorld = {
  name: 'plans',
  app: defineApp({ reducers: [script], plans: [stage] }),
  cells: PARTS.map(cell),
  logs: [],
  async run(fixed) {
    const { clock } = fixed;
    const policy = [
      { effect: 'golden.forbidden*', decision: 'deny' as const },
      { effect: '*', decision: 'allow' as const },
    ];
    const options = { ...fixed, app: this.app, policy, snapshotEvery: 7, recheckEvery: 1 };
    let outside = outsideOf();
    const first = await openKernelWorld({ ...options, adapters: outside });
    for (const part of PARTS) {
      const begun = { name: 'golden/Begun@1', value: { part: part === 'stopped' ? 'any' : part } };
      await first.request(cell(part), begun, { id: part });
      await clock.settle();
    }
    await first.request(cell('stopped'), { name: 'golden/Stopped@1', value: {} }, { id: 'stop' });
    await clock.advance(2_000);
    outside[0]?.release(outside[0].hanging.at(-1));
    await clock.advance(10_000);
    const closed = first.close(); // `once` runs and does not stop: at the next opening it may have happened
    await clock.advance(5_000);
    await closed;
    outside = outsideOf();
    const second = await openKernelWorld({ ...options, adapters: outside });
    await clock.settle();
    while (outside[0]?.release() === true) await clock.settle();
    await clock.advance(1_000);
    await second.close();
  },
};
