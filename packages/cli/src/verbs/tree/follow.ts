/** Follows a tree in the process that runs it: prints its changes, hears Ctrl-C, and knows when it waits for what comes from outside. */
import { randomUUID } from 'node:crypto';
import type { WorldFrame } from '@reprise/kernel';
import { openAsks, pictureOf, standsStill, TREE, TreeFold, type TreeView, treeEventOf, waitsOf } from '@reprise/tree';
import type { Io } from '../../process/io.js';
import { toJson } from '../../text/json.js';
import { performAct, wordsOfDone } from '../../tree/act.js';
import { exitOf, TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { pictureText } from '../../tree/fit.js';
import { LiveLines } from '../../tree/live-lines.js';
import type { TreeOwner } from '../../tree/owner.js';
import { Past } from '../../tree/past.js';
import type { TreeScreen } from '../../tree/screen/screen.js';
import type { Wish } from '../../tree/screen/state.js';
import { Texts } from '../../tree/texts.js';
import { howToGoOn } from '../../tree/waiting.js';
import { screenOn } from './open-screen.js';

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
/** How often it is looked whether the tree stands still: twice in a row says so. Milliseconds. */
const STILL_MS = 400;

/** Follows a tree until it ends, waits for what comes from outside, or the user leaves. */
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
  /** Whether it ended to be followed because nothing goes on by itself. */
  #isStill = false;
  /** The newest frame that was shown, and the one at the last look. */
  #seen = -1;
  #seenBefore = -2;
  /** The frame at which a person was told for what the tree waits. */
  #toldAt = -1;

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
    // It also keeps the process alive: a world in which everything waits holds nothing that Node would wait for.
    const still = setInterval(() => this.#lookWhetherStill(), STILL_MS);
    try {
      for await (const frame of kernel.frames(0, this.#stop.signal, [[TREE, this.options.name]])) {
        await this.#show(frame);
        this.#seen = frame.seq;
        const tree = this.#tree;
        if (frame.seq < kernel.head.seq || tree === undefined) continue;
        if (tree.ended !== null) {
          await this.#screen?.present(this.#stop.signal);
          return await this.#end(tree, exitOf(tree));
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      clearInterval(still);
      this.#screen?.close();
      for (const line of this.#noticed.splice(0)) await this.io.err.write(`${line}\n`);
    }
    return this.#left();
  }

  /** Ctrl-C, once or more often, and SIGTERM: leaves. Nothing is cancelled: the tree goes on with `continue`. */
  hear(_signal: 'SIGINT' | 'SIGTERM'): void {
    if (this.#stop.signal.aborted) return;
    const { name } = this.options;
    void this.io.err.write(
      `Leaving: reprise tree continue ${name} goes on. To end all nodes instead: reprise tree stop ${name}/1\n`,
    );
    this.#stop.abort();
  }

  /** Executes what keys on the screen want. */
  async #execute(wish: Wish): Promise<string> {
    const { name: tree } = this.options;
    if (wish.do === 'leave') {
      this.#stop.abort();
      return '';
    }
    const { do: _, ...act } = wish;
    return wordsOfDone(act.verb, tree, act.n, await performAct(this.owner, { ...act, tree, id: randomUUID() }));
  }

  get #tree(): TreeView | undefined {
    return this.#fold.trees.get(this.options.name);
  }

  async #show({ seq, at, records }: WorldFrame): Promise<void> {
    const { name, json, from } = this.options;
    const place = { frame: seq, at };
    this.#texts.failures.add(records);
    const facts = records.flatMap((record) => this.#fold.take(record, place) ?? []);
    if (this.#screen !== undefined) for (const fact of facts) this.#past.add({ fact, place });
    const tree = this.#tree;
    if (tree === undefined) return;
    if (this.#screen !== undefined) return this.#screen.show(tree);
    for (const fact of facts.filter((one) => one.tree === name)) {
      const lines = json ? [toJson(treeEventOf(fact, place))] : await this.#lines.of({ fact, place }, tree);
      if (seq >= from) for (const line of lines) await this.io.out.write(`${line}\n`);
    }
  }

  /** Ends when nothing goes on before something comes from outside, if no person is here. */
  #lookWhetherStill(): void {
    const { kernel } = this.owner.world;
    const isNew = this.#seen !== this.#seenBefore || this.#seen < kernel.head.seq;
    this.#seenBefore = this.#seen;
    const tree = this.#tree;
    if (isNew || tree === undefined || tree.ended !== null) return;
    // A program that waits for an answer runs all the time, and the world only knows that it runs: the tree knows better.
    const isIdle = !kernel.unfinished && kernel.nextWakeAt === undefined;
    if (!isIdle && !standsStill(tree)) return;
    if (this.io.terminal !== undefined) return this.#sayWhatWaits(tree);
    this.#isStill = true;
    this.#stop.abort();
  }

  /** On a terminal without the screen, a person is told once for what the tree waits: the lines of changes may be long gone. */
  #sayWhatWaits(tree: TreeView): void {
    if (this.#screen !== undefined || this.options.json || this.#toldAt === this.#seen) return;
    this.#toldAt = this.#seen;
    void this.io.err.write(howToGoOn(tree, { leaves: false }));
  }

  async #left(): Promise<TreeExitCode | typeof LEFT> {
    const tree = this.#tree;
    if (tree !== undefined && this.#isStill) return this.#end(tree, TREE_EXIT.waits);
    if (this.#screen !== undefined)
      await this.io.err.write(`Left: reprise tree continue ${this.options.name} goes on.\n`);
    return LEFT;
  }

  async #end(tree: TreeView, code: TreeExitCode): Promise<TreeExitCode> {
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
        waits: waitsOf(tree),
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
    if (code === TREE_EXIT.waits) await this.io.err.write(howToGoOn(tree));
    return code;
  }
}
