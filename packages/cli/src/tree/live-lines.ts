/** A running tree as lines of text, for pipes and logs: one line for each change of a state, question and answer. */
import { openAsks, optionsOf, type PlacedFact, stateOf, stateOfTree, type TreeView, wordsOfActor } from '@reprise/tree';
import { escapeLine } from '../text/escape.js';

import type { Texts } from './texts.js';

const RESULT_UNITS = 100;

/** Turns facts into lines, one for each change of a node. */
export class LiveLines {
  /** What was printed of each node last. */
  readonly #shown = new Map<number, string>();

  constructor(private readonly texts: Texts) {}

  /** The lines of a fact, once all facts of its frame were added to the tree: they are stated in any order. */
  async of({ fact, place }: PlacedFact, tree: TreeView): Promise<readonly string[]> {
    const said = await this.#said(fact, tree);
    const seconds = Math.max(0, Math.floor((place.at - tree.started.at) / 1_000));
    const clock = `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
    return said === undefined ? [] : [`${clock}  ${escapeLine(said)}`];
  }

  async #said(fact: PlacedFact['fact'], tree: TreeView): Promise<string | undefined> {
    switch (fact.name) {
      case 'tree/Started@1':
        return `● tree ${tree.name} [running] ${tree.goal}`;
      case 'tree/NodeChanged@1':
        return fact.value.type === 'ask' ? undefined : this.#node(fact.value.n, tree);
      case 'tree/Asked@1':
        return this.#ask(fact.value.ask, tree);
      case 'tree/Answered@1': {
        const { ask, how, by, picked, text_ref } = fact.value;
        const text = picked ?? (text_ref === null ? '' : await this.texts.whole(text_ref));
        return `✓ #${ask} [${how}]${by === null ? '' : ` by ${wordsOfActor(tree, by)}`}: ${String(text).slice(0, RESULT_UNITS)}`;
      }
      case 'tree/Acted@1': {
        const { act, n, by } = fact.value;
        return `! ${n === null ? `tree ${tree.name}` : `#${n}`} [${act}] by ${wordsOfActor(tree, by)}`;
      }
      case 'tree/Ended@1': {
        const { mark, word } = stateOfTree(tree);
        return `${mark} tree ${tree.name} [${word}]${tree.code === null ? '' : ` ${tree.code}`}`;
      }
      default:
        return undefined;
    }
  }

  async #node(n: number, tree: TreeView): Promise<string | undefined> {
    const node = tree.nodes.get(n);
    if (node === undefined) return undefined;
    const { mark, word } = stateOf(node);
    const phase = node.status === 'active' && node.phase !== 'work' ? ` (${node.phase})` : '';
    const attempt = node.attempt > 1 && node.status === 'active' ? ` (attempt ${node.attempt})` : '';
    const head = `${mark} #${n} [${word}] ${node.type.toUpperCase()} ${node.goal}${phase}${attempt}`;
    if (this.#shown.get(n) === head) return undefined;
    this.#shown.set(n, head);
    const result = node.status === 'complete' && node.result !== null ? await this.texts.whole(node.result) : '';
    const shown = result.replace(/\s+/g, ' ').trim();
    const preview = shown.length > RESULT_UNITS ? `${shown.slice(0, RESULT_UNITS)}…` : shown;
    const failure = await this.texts.failure(node);
    return `${head}${node.code === null ? '' : ` · ${failure ?? node.code}`}${preview === '' ? '' : ` · ${preview}`}`;
  }

  #ask(n: number, tree: TreeView): string | undefined {
    const ask = openAsks(tree).find((one) => one.ask === n);
    if (ask === undefined) return undefined;
    const whom = ask.route.length === 0 ? 'people' : ask.route.map((to) => `#${to}`).join(', ');
    const options = optionsOf(ask).map((option, i) => `[${i + 1}] ${option}`);
    const goal = tree.nodes.get(n)?.goal ?? '';
    return [`? #${n} [open] #${ask.asker} asks ${whom}: ${goal}`, ...options].join('  ');
  }
}
