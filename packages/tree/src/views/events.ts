/** The changes of a tree as events: one for each fact, as JSON, with the states that the picture shows. */
import type { Ref } from '@reprise/contracts';
import type { TreeFact } from '../pure/contracts/index.js';
import type { FactOfTree, FramePlace } from './nodes.js';
import { type Mark, stateOf, stateOfTree } from './states.js';

/** A state as events carry it: the mark and the word that people see. */
interface EventState {
  readonly mark: Mark;
  readonly state: string;
}

type Fact<K extends FactOfTree['name']> = TreeFact<`${K}`>;

/** Links of content stand as `sha256:…` in JSON. */
type Node = Omit<Fact<'tree/NodeChanged@1'>, 'n' | 'type' | 'prompt_ref'> & {
  readonly node: number;
  readonly kind: Fact<'tree/NodeChanged@1'>['type'];
  readonly prompt: Ref | null;
};

/** What an event says. */
type Said =
  | ({ readonly type: 'started' } & Fact<'tree/Started@1'>)
  | ({ readonly type: 'node' } & Node & EventState)
  | { readonly type: 'needs'; readonly node: number; readonly needs: readonly number[] }
  | ({ readonly type: 'launched'; readonly node: number; readonly prompt: Ref } & Omit<
      Fact<'tree/Launched@1'>,
      'n' | 'prompt_ref'
    >)
  | ({ readonly type: 'asked'; readonly question: Ref; readonly default: string | null } & Omit<
      Fact<'tree/Asked@1'>,
      'question_ref' | 'default'
    >)
  | ({ readonly type: 'answered'; readonly text: Ref | null } & Omit<Fact<'tree/Answered@1'>, 'text_ref'>)
  | ({ readonly type: 'acted'; readonly node: number | null } & Omit<Fact<'tree/Acted@1'>, 'n'>)
  | { readonly type: 'late'; readonly node: number; readonly what: string; readonly launch: number }
  | ({ readonly type: 'budget' } & Fact<'tree/Budget@1'>)
  | ({ readonly type: 'rights'; readonly node: number } & Omit<Fact<'tree/Rights@1'>, 'n'>)
  | ({ readonly type: 'limited' } & Fact<'tree/Limited@1'>)
  | ({ readonly type: 'ended' } & Fact<'tree/Ended@1'> & EventState);

/** A change of a tree: the tree, the frame, the journal's time in milliseconds, and what changed. */
export type TreeEvent = { readonly tree: string; readonly frame: number; readonly at: number } & Said;

/** The event of a fact. */
export function treeEventOf(fact: FactOfTree, { frame, at }: FramePlace): TreeEvent {
  return { tree: fact.tree, frame, at, ...saidBy(fact) };
}

function saidBy(fact: FactOfTree): Said {
  switch (fact.name) {
    case 'tree/Started@1':
      return { type: 'started', ...fact.value };
    case 'tree/NodeChanged@1': {
      const { n: node, type: kind, prompt_ref: prompt, ...row } = fact.value;
      const { mark, word } = stateOf(fact.value);
      return { type: 'node', node, kind, mark, state: word, prompt, ...row };
    }
    case 'tree/Needs@1':
      return { type: 'needs', node: fact.value.n, needs: fact.value.needs };
    case 'tree/Launched@1': {
      const { n: node, prompt_ref: prompt, ...launch } = fact.value;
      return { type: 'launched', node, prompt, ...launch };
    }
    case 'tree/Asked@1': {
      const { question_ref: question, default: index, ...ask } = fact.value;
      return { type: 'asked', question, ...ask, default: index === null ? null : (ask.options[index] ?? null) };
    }
    case 'tree/Answered@1': {
      const { text_ref: text, ...answer } = fact.value;
      return { type: 'answered', text, ...answer };
    }
    case 'tree/Acted@1': {
      const { n: node, ...acted } = fact.value;
      return { type: 'acted', node, ...acted };
    }
    case 'tree/Late@1': {
      const { n: node, ...late } = fact.value;
      return { type: 'late', node, ...late };
    }
    case 'tree/Budget@1':
      return { type: 'budget', ...fact.value };
    case 'tree/Rights@1':
      return { type: 'rights', node: fact.value.n, rights: fact.value.rights };
    case 'tree/Limited@1':
      return { type: 'limited', ...fact.value };
    case 'tree/Ended@1': {
      const { mark, word } = stateOfTree(fact.value);
      return { type: 'ended', mark, state: word, ...fact.value };
    }
  }
}
