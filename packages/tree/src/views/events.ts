/** The changes of a tree as events: one for each fact, as JSON, with the states that the picture shows. */
import type { TreeFact, TreeFactName } from '../pure/contracts/index.js';
import type { FactOfTree, FramePlace } from './nodes.js';
import { stateOf, stateOfTree } from './states.js';

type Fact<K extends string> = TreeFact<K & TreeFactName>;

/** What each fact says as an event. Links of content stand as `sha256:…` in JSON, and numbers of nodes as `node`. */
const SAID = {
  'tree/Started@1': (start: Fact<'tree/Started@1'>) => ({ type: 'started', ...start }) as const,
  'tree/NodeChanged@1': ({ n: node, type: kind, prompt_ref: prompt, ...row }: Fact<'tree/NodeChanged@1'>) => {
    const { mark, word } = stateOf({ type: kind, ...row });
    return { type: 'node', node, kind, mark, state: word, prompt, ...row } as const;
  },
  'tree/Needs@1': ({ n: node, needs }: Fact<'tree/Needs@1'>) => ({ type: 'needs', node, needs }) as const,
  'tree/Launched@1': ({ n: node, prompt_ref: prompt, ...launch }: Fact<'tree/Launched@1'>) =>
    ({ type: 'launched', node, prompt, ...launch }) as const,
  'tree/Asked@1': ({ question_ref: question, default: index, ...ask }: Fact<'tree/Asked@1'>) =>
    ({ type: 'asked', question, ...ask, default: index === null ? null : (ask.options[index] ?? null) }) as const,
  'tree/Answered@1': ({ text_ref: text, ...answer }: Fact<'tree/Answered@1'>) =>
    ({ type: 'answered', text, ...answer }) as const,
  'tree/Acted@1': ({ n: node, ...acted }: Fact<'tree/Acted@1'>) => ({ type: 'acted', node, ...acted }) as const,
  'tree/Late@1': ({ n: node, ...late }: Fact<'tree/Late@1'>) => ({ type: 'late', node, ...late }) as const,
  'tree/Budget@1': (budget: Fact<'tree/Budget@1'>) => ({ type: 'budget', ...budget }) as const,
  'tree/Rights@1': ({ n: node, ...said }: Fact<'tree/Rights@1'>) => ({ type: 'rights', node, ...said }) as const,
  'tree/Limited@1': (limited: Fact<'tree/Limited@1'>) => ({ type: 'limited', ...limited }) as const,
  'tree/Ended@1': (end: Fact<'tree/Ended@1'>) => {
    const { mark, word } = stateOfTree(end);
    return { type: 'ended', mark, state: word, ...end } as const;
  },
} satisfies { readonly [K in TreeFactName]: (value: Fact<K>) => object };

type Said = { readonly [K in TreeFactName]: Readonly<ReturnType<(typeof SAID)[K]>> };

/** A change of a tree: the tree, the frame, the journal's time in milliseconds, and what changed. */
export type TreeEvent = FramePlace & { readonly tree: string } & Said[TreeFactName];

/** The event of a fact. */
export function treeEventOf({ name, value, tree }: FactOfTree, { frame, at }: FramePlace): TreeEvent {
  return { tree, frame, at, ...saidBy(name, value) };
}

function saidBy<K extends TreeFactName>(name: K, value: Fact<K>): Said[K] {
  const said: { readonly [N in TreeFactName]: (value: Fact<N>) => Said[N] } = SAID;
  return said[name](value);
}
