/** The changes of a tree as events: one for each fact, as JSON, with the states that the picture shows. */
import type { Ref } from '@reprise/contracts';
import type { TreeFact, TreeFactName } from '../pure/contracts/index.js';
import type { FactOfTree, FramePlace } from './nodes.js';
import { type Mark, stateOf, stateOfTree } from './states.js';

/** A state as events carry it: the mark and the word that people see. */
interface EventState {
  readonly mark: Mark;
  readonly state: string;
}

type Fact<K extends string> = TreeFact<K & TreeFactName>;

/** What each fact says as an event. Links of content stand as `sha256:…` in JSON, and numbers of nodes as `node`. */
interface Said {
  'tree/Started@1': { type: 'started' } & Fact<'tree/Started@1'>;
  'tree/NodeChanged@1': Omit<Fact<'tree/NodeChanged@1'>, 'n' | 'type' | 'prompt_ref'> &
    EventState & { type: 'node'; node: number; kind: Fact<'tree/NodeChanged@1'>['type']; prompt: Ref | null };
  'tree/Needs@1': { type: 'needs'; node: number; needs: readonly number[] };
  'tree/Launched@1': Omit<Fact<'tree/Launched@1'>, 'n' | 'prompt_ref'> & {
    type: 'launched';
    node: number;
    prompt: Ref;
  };
  'tree/Asked@1': Omit<Fact<'tree/Asked@1'>, 'question_ref' | 'default'> & {
    type: 'asked';
    question: Ref;
    default: string | null;
  };
  'tree/Answered@1': Omit<Fact<'tree/Answered@1'>, 'text_ref'> & { type: 'answered'; text: Ref | null };
  'tree/Acted@1': Omit<Fact<'tree/Acted@1'>, 'n'> & { type: 'acted'; node: number | null };
  'tree/Late@1': Omit<Fact<'tree/Late@1'>, 'n'> & { type: 'late'; node: number };
  'tree/Budget@1': { type: 'budget' } & Fact<'tree/Budget@1'>;
  'tree/Rights@1': Omit<Fact<'tree/Rights@1'>, 'n'> & { type: 'rights'; node: number };
  'tree/Limited@1': { type: 'limited' } & Fact<'tree/Limited@1'>;
  'tree/Ended@1': { type: 'ended' } & Fact<'tree/Ended@1'> & EventState;
}

/** A change of a tree: the tree, the frame, the journal's time in milliseconds, and what changed. */
export type TreeEvent = FramePlace & { readonly tree: string } & {
    [K in TreeFactName]: Readonly<Said[K]>;
  }[TreeFactName];

const SAID: { readonly [K in TreeFactName]: (value: Fact<K>) => Said[K] } = {
  'tree/Started@1': (start) => ({ type: 'started', ...start }),
  'tree/NodeChanged@1'({ n: node, type: kind, prompt_ref: prompt, ...row }) {
    const { mark, word } = stateOf({ type: kind, ...row });
    return { type: 'node', node, kind, mark, state: word, prompt, ...row };
  },
  'tree/Needs@1': ({ n: node, needs }) => ({ type: 'needs', node, needs }),
  'tree/Launched@1': ({ n: node, prompt_ref: prompt, ...launch }) => ({ type: 'launched', node, prompt, ...launch }),
  'tree/Asked@1'({ question_ref: question, default: index, ...ask }) {
    return { type: 'asked', question, ...ask, default: index === null ? null : (ask.options[index] ?? null) };
  },
  'tree/Answered@1': ({ text_ref: text, ...answer }) => ({ type: 'answered', text, ...answer }),
  'tree/Acted@1': ({ n: node, ...acted }) => ({ type: 'acted', node, ...acted }),
  'tree/Late@1': ({ n: node, ...late }) => ({ type: 'late', node, ...late }),
  'tree/Budget@1': (budget) => ({ type: 'budget', ...budget }),
  'tree/Rights@1': ({ n: node, ...said }) => ({ type: 'rights', node, ...said }),
  'tree/Limited@1': (limited) => ({ type: 'limited', ...limited }),
  'tree/Ended@1'(end) {
    const { mark, word } = stateOfTree(end);
    return { type: 'ended', mark, state: word, ...end };
  },
};

/** The event of a fact. */
export function treeEventOf(fact: FactOfTree, { frame, at }: FramePlace): TreeEvent {
  return { tree: fact.tree, frame, at, ...saidBy(fact) };
}

function saidBy<K extends TreeFactName>({ name, value }: { name: K; value: Fact<K> }): Said[K] {
  return SAID[name](value);
}
