/** Follows a tree in the process that runs it: prints its changes, hears Ctrl-C, and knows when it waits for a person. */
import { randomUUID } from 'node:crypto';
import type { WorldFrame } from '@reprise/kernel';
import {
  hasEnded,
  type NodeView,
  openAsks,
  pictureOf,
  TreeFold,
  type TreeView,
  treeEventOf,
  treeFactIn,
} from '@reprise/tree';
import type { Io } from '../io.js';
import { toJson } from '../text/json.js';
import { performAct, wordsOfDone } from './act.js';
import { exitOf, TREE_EXIT, type TreeExitCode } from './exit.js';
import { pictureText } from './fit.js';
import { LiveLines } from './live-lines.js';
import type { TreeOwner } from './owner.js';
import { Past } from './past.js';
import { screenOn } from './screen/open.js';
import type { TreeScreen } from './screen/screen.js';
import type { Wish } from './screen/state.js';
import { Texts } from './texts.js';

/** How a tree is shown while it runs. */
interface FollowOptions {
  readonly name: string;
  readonly json: boolean;
  /** The frame from which changes are printed. */
  readonly from: number;
  /** Lines of text, also on a terminal. */
  readonly plain: boolean;
}

/** The exit code after Ctrl-C, as shells know it. */
const LEFT = 130;
/** How many lines are kept to be printed behind the screen. */
const NOTICED_MAX = 100;
/** How long a tree stands still before it is said to wait for a person, in milliseconds. */
const STILL_MS = 400;

/** Follows a tree until it ends, waits for a person, or the user leaves. */
export async function followTree(
  io: Io,
  owner: TreeOwner,
  options: FollowOptions,
): Promise<TreeExitCode | typeof LEFT> {
  const following = new Following(io, owner, options);
  const stop = io.onSignal?.((signal) => following.hear(signal));
  try {
    return await following.run();
  } finally {
    stop?.();
  }
}

class Following {
  readonly #fold = new TreeFold();
  readonly #stop = new AbortController();
  readonly #texts: Texts;
  readonly #lines: LiveLines;
  readonly #past: Past;
  readonly #screen: TreeScreen | undefined;
  #isCancelling = false;
  #hasLeft = false;
  #still: NodeJS.Timeout | undefined;

  constructor(
    private readonly io: Io,
    private readonly owner: TreeOwner,
    private readonly options: FollowOptions,
  ) {
    this.#texts = new Texts(owner.world.kernel.content);
    this.#lines = new LiveLines(this.#texts);
    this.#past = new Past(options.name);
    this.#screen = screenOn(io, options.plain || options.json, {
      texts: this.#texts,
      past: this.#past,
      runs: true,
      execute: (wish) => this.#execute(wish),
    });
    owner.notices.hear((line) => this.#notice(line));
  }

  /** What was told while the screen was drawn, for those who did not see it there. */
  readonly #noticed: string[] = [];

  #notice(line: string): void {
    if (this.#screen === undefined) return void this.io.err.write(`${line}\n`);
    this.#screen.say(line);
    if (this.#noticed.length < NOTICED_MAX) this.#noticed.push(line);
  }

  async run(): Promise<TreeExitCode | typeof LEFT> {
    const { kernel } = this.owner.world;
    try {
      for await (const frame of kernel.frames(0, this.#stop.signal)) {
        await this.#show(frame);
        const tree = this.#tree;
        if (frame.seq < kernel.head.seq || tree === undefined) continue;
        if (tree.ended !== null) {
          await this.#screen?.present(this.#stop.signal);
          return await this.#end(tree, exitOf(tree));
        }
        this.#watchStillness();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      clearTimeout(this.#still);
      this.#screen?.close();
      for (const line of this.#noticed.splice(0)) await this.io.err.write(`${line}\n`);
    }
    return this.#left();
  }

  /** Ctrl-C: leaves, and at the second time cancels all nodes. */
  hear(signal: 'SIGINT' | 'SIGTERM'): void {
    if (signal === 'SIGINT' && !this.#hasLeft && !this.#isCancelling) {
      this.#hasLeft = true;
      void this.io.err.write(
        `Leaving: reprise tree continue ${this.options.name} goes on. Ctrl-C again cancels all nodes instead.\n`,
      );
      this.#leaving = setTimeout(() => this.#stop.abort(), LEAVE_MS);
      return;
    }
    clearTimeout(this.#leaving);
    if (signal === 'SIGTERM') return this.#stop.abort();
    void this.io.err.write('Cancelling all nodes, and waiting for their programs to end.\n');
    this.#cancel();
  }

  #cancel(): void {
    if (this.#isCancelling) return;
    this.#isCancelling = true;
    void this.owner.trees
      .tree(this.options.name)
      .stop(1)
      .catch(() => this.#stop.abort());
  }

  /** Executes what keys on the screen want. */
  async #execute(wish: Wish): Promise<string> {
    const { name: tree } = this.options;
    if (wish.do === 'leave') {
      this.#hasLeft = true;
      this.#stop.abort();
      return '';
    }
    if (wish.do === 'cancel') {
      this.#cancel();
      return 'cancelling all nodes, and waiting for their programs to end';
    }
    const { do: _, ...act } = wish;
    return wordsOfDone(act.verb, tree, act.n, await performAct(this.owner, { ...act, tree, id: randomUUID() }));
  }

  #leaving: NodeJS.Timeout | undefined;

  get #tree(): TreeView | undefined {
    return this.#fold.trees.get(this.options.name);
  }

  async #show({ seq, at, records }: WorldFrame): Promise<void> {
    const { name, json, from } = this.options;
    const place = { frame: seq, at };
    this.#texts.failures.add(records);
    const facts = records.flatMap((record) => treeFactIn(record) ?? []);
    for (const fact of facts) this.#fold.add(fact, place);
    if (this.#screen !== undefined) for (const fact of facts) this.#past.add({ fact, place });
    const tree = this.#tree;
    if (tree === undefined) return;
    if (this.#screen !== undefined) return this.#screen.show(tree);
    for (const fact of facts.filter((one) => one.tree === name)) {
      const lines = json ? [toJson(treeEventOf(fact, place))] : await this.#lines.of({ fact, place }, tree);
      if (seq >= from) for (const line of lines) await this.io.out.write(`${line}\n`);
    }
  }

  /** Ends when the tree stands still and only a person can move it, if no person is here. */
  #watchStillness(): void {
    clearTimeout(this.#still);
    if (this.io.terminal !== undefined) return;
    this.#still = setTimeout(() => {
      const tree = this.#tree;
      if (tree !== undefined && waitsForPeople(tree)) this.#stop.abort();
    }, STILL_MS);
  }

  async #left(): Promise<TreeExitCode | typeof LEFT> {
    const tree = this.#tree;
    const isLeft = this.#hasLeft || this.#isCancelling || tree === undefined || !waitsForPeople(tree);
    if (tree === undefined || isLeft) {
      if (this.#screen !== undefined)
        await this.io.err.write(`Left: reprise tree continue ${this.options.name} goes on.\n`);
      return LEFT;
    }
    return this.#end(tree, TREE_EXIT.waits);
  }

  async #end(tree: TreeView, code: TreeExitCode): Promise<TreeExitCode> {
    clearTimeout(this.#leaving);
    this.#screen?.close();
    const text = tree.result === null ? undefined : await this.#texts.whole(tree.result);
    if (this.options.json) {
      const { name, status, spent } = tree;
      const asks = openAsks(tree, 'people').map(({ ask }) => ask);
      const outcome = {
        type: 'outcome',
        tree: name,
        status,
        code: tree.code,
        text: text ?? null,
        spent,
        asks,
        exit: code,
      };
      await this.io.out.write(`${toJson(outcome)}\n`);
      return code;
    }
    await this.#texts.load(tree);
    const picture = pictureText(
      pictureOf(tree, { textOf: this.#texts.get, failureOf: this.#texts.failureOf }),
      this.io.out.columns,
    );
    await this.io.out.write(`\n${picture}${text === undefined ? '' : `\n${text}\n`}`);
    if (code === TREE_EXIT.waits) await this.io.err.write(howToAnswer(tree));
    return code;
  }
}

/** How long after Ctrl-C a second one cancels all nodes, in milliseconds. */
const LEAVE_MS = 1_500;

/** Whether nothing of a tree can go on before a person answers. */
function waitsForPeople(tree: TreeView): boolean {
  const isAsked = openAsks(tree, 'people').some(({ deadline }) => deadline === null);
  return isAsked && ![...tree.nodes.values()].some((node) => goesOn(tree, node));
}

/** Whether a node runs, or can begin without a person. */
function goesOn(tree: TreeView, node: NodeView): boolean {
  if (hasEnded(node) || node.type === 'ask' || node.type === 'serial') return false;
  if (node.run !== 'none' && node.run !== 'waiting') return true;
  const isReady = node.status === 'pending' && node.needs.every((n) => hasEnded(tree.nodes.get(n) ?? node));
  return isReady && !node.paused;
}

function howToAnswer(tree: TreeView): string {
  const lines = openAsks(tree, 'people').map(({ ask }) => `  reprise tree answer ${tree.name}/${ask} VALUE\n`);
  return `The tree waits for a person, and there is no terminal. Answer, then go on:\n${lines.join('')}  reprise tree continue ${tree.name}\n`;
}
