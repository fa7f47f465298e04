/** Session reducers that keep their budgets wrongly, each in one way: the law has to find them. */
import { type App, defineApp, type ReducerContext } from '@reprise/kernel/define';
import type { SessionState } from '../../src/contracts/index.js';
import { sessionReducer } from '../../src/reducer/session-reducer.js';
import { agentApp } from '../../src/world/app.js';

type Sent = { readonly name: string; readonly value: Record<string, unknown> };

/** What a mutant does around a delivery, and to what it sends. */
interface Mutant {
  readonly before?: (draft: SessionState, event: Sent) => (() => void) | undefined;
  readonly after?: (draft: SessionState, event: Sent) => void;
  readonly send?: (event: Sent) => Sent;
}

const NOTHING = { tokens: 0, micro_money: 0 };

/** The mutants by what is wrong with them. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'what is set aside is free again when a child first tells something': {
    after: ({ run }, { name }) => {
      if (run !== null && name === 'aos.agent/ChildNotice@1') run.allocated = { ...NOTHING };
    },
  },
  'what is set aside does not count for the run itself': {
    before: ({ run }) => {
      if (run === null) return undefined;
      const kept = run.allocated;
      run.allocated = { ...NOTHING };
      return () => {
        run.allocated = {
          tokens: kept.tokens + run.allocated.tokens,
          micro_money: kept.micro_money + run.allocated.micro_money,
        };
      };
    },
  },
  'an input to a child has the whole limit again': {
    send: (event) => {
      const { allowance, ...value } = event.value;
      if (event.name !== 'aos.agent/UserInput@1' || allowance === undefined) return event;
      return { ...event, value: { ...value, allowance: { ...allowance, tokens: null, micro_money: null } } };
    },
  },
  'a call reserves nothing for its prompt': {
    before: (draft) => {
      const { reading } = draft.window;
      draft.window.reading = null;
      return () => {
        draft.window.reading ??= reading;
      };
    },
  },
  'a call reserves nothing at all': {
    after: (draft) => {
      const { run } = draft;
      if (run?.reserve != null) run.reserve = { tokens: 1, micro_money: 1 };
    },
  },
  'a call of which nobody told what it used counts nothing': {
    after: ({ run }) => {
      if (run !== null) run.unaccounted = { ...NOTHING };
    },
  },
  'a child gives back what it has set aside for those below it': {
    send: (event) => {
      const { news } = event.value as { news?: { paid?: object } };
      if (event.name !== 'aos.agent/ChildNotice@1' || news?.paid === undefined) return event;
      return { ...event, value: { ...event.value, news: { ...news, paid: { ...news.paid, over: true } } } };
    },
  },
  'a child is charged for its own calls only': {
    after: ({ run }, { name }) => {
      if (run === null || name !== 'aos.agent/ChildNotice@1') return;
      run.children_tally = { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 };
    },
  },
};

/** How a call ends whose process died, or that was under way where its world was forked. */
const CUT = /outcome_unknown|forked/;

/** Mutants that show only where a process died, or where a world was forked: a call under way there is settled as unknown. */
export const CUT_MUTANTS: Readonly<Record<string, Mutant>> = {
  'a call that a fork cut off reserved nothing': {
    before: (draft, { name, value }) => {
      if (draft.run !== null && name === 'aos.agent/LlmStepFailed@1' && CUT.test(String(value.code)))
        draft.run.reserve = null;
      return undefined;
    },
    after: ({ run }, { name, value }) => {
      if (run !== null && name === 'aos.agent/LlmStepFailed@1' && CUT.test(String(value.code)))
        run.allocated = { ...NOTHING };
    },
  },
};

/** The app of agents with a mutant in place of its session reducer. */
export function appOf({ before, after, send = (event) => event }: Mutant): App {
  const mutant: typeof sessionReducer = {
    ...sessionReducer,
    reduce(draft, event, ctx) {
      const state = draft as SessionState;
      const restore = before?.(state, event as Sent);
      const sending = new Proxy(ctx, {
        get(target, name) {
          if (name === 'send')
            return (...[to, sent, options]: Parameters<ReducerContext['send']>) =>
              target.send(to, send(sent as Sent), options);
          const part: unknown = Reflect.get(target, name, target);
          return typeof part === 'function' ? part.bind(target) : part;
        },
      });
      const result = sessionReducer.reduce(draft, event, sending);
      restore?.();
      after?.(state, event as Sent);
      return result;
    },
  };
  return defineApp({ reducers: [mutant], plans: [...agentApp.plans.values()] });
}
