/** `reprise tree watch`: a tree while another process runs it, until it ends or the user leaves. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { postedTroubles } from '@reprise/kernel/driver';
import { pictureOf, TreeFold, type TreeView, takeFrame, treeEventOf, treesAt } from '@reprise/tree';
import { hasOwner } from '@reprise/tree/serve';
import type { Io } from '../../process/io.js';
import { toJson } from '../../text/json.js';
import { wordsOfDone } from '../../tree/act.js';
import { exitOf, TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { pictureText } from '../../tree/fit.js';
import { LiveLines } from '../../tree/live-lines.js';
import { Past } from '../../tree/past.js';
import type { TreeScreen } from '../../tree/screen/screen.js';
import type { Wish } from '../../tree/screen/state.js';
import { parseTreeName, treeNamed } from '../../tree/target.js';
import { Texts } from '../../tree/texts.js';
import { tokenIn } from '../../tree/token.js';
import { framesOf } from '../../world/frames.js';
import { withWorld } from '../../world/open.js';
import { isDatabase } from '../../world/place.js';
import { perform, principalOf } from './act.js';
import { screenOn } from './open-screen.js';

/** How often the screen looks whether a process has the world open, in milliseconds. */
const LOOK_MS = 2_000;

/** The options of `tree watch`. */
interface WatchTreeOptions {
  readonly world: string;
  /** Begins with the tree as it was after this frame. */
  readonly at?: number;
  /** Who acts by the keys of the screen, such as `human:ann`. */
  readonly as?: string;
  /** The file with the token of the process that runs the tree. */
  readonly tokenFile?: string;
  readonly plain?: true;
  readonly json?: true;
}

function noScreen(at: number): RepriseError {
  return new RepriseError('invalid_argument', 'an earlier frame is shown on a screen only', {
    where: '--at',
    actual: at,
    hint: `Print it: reprise tree show --at ${at}.`,
  });
}

/**
 * Shows a tree while it runs.
 *
 * A tree that has ended stays on the screen until the user leaves.
 *
 * @returns the exit code of the tree; 0 when the user leaves before its end
 */
export async function watchTree(io: Io, name: string | undefined, options: WatchTreeOptions): Promise<TreeExitCode> {
  if (options.as !== undefined) principalOf(options.as);
  const token = options.tokenFile === undefined ? undefined : await tokenIn(options.tokenFile);
  return withWorld(options.world, async (store) => {
    const meant = treeNamed(await treesAt(store, options.at), name === undefined ? undefined : parseTreeName(name));
    const watching = new Watching(io, store, meant.name, { ...options, ...(token === undefined ? {} : { token }) });
    try {
      return await watching.run();
    } finally {
      watching.close();
    }
  });
}

class Watching {
  readonly #fold = new TreeFold();
  readonly #left = new AbortController();
  readonly #texts: Texts;
  readonly #lines: LiveLines;
  readonly #past: Past;
  readonly #screen: TreeScreen | undefined;
  #looks: NodeJS.Timeout | undefined;

  constructor(
    private readonly io: Io,
    private readonly store: ReadonlyStore,
    private readonly name: string,
    private readonly options: WatchTreeOptions & { readonly token?: string },
  ) {
    this.#texts = new Texts(store.content);
    this.#lines = new LiveLines(this.#texts);
    this.#past = new Past(name);
    const isPlain = options.plain === true || options.json === true;
    this.#screen = screenOn(io, isPlain, {
      texts: this.#texts,
      past: this.#past,
      runs: false,
      execute: (wish) => this.#execute(wish),
    });
    if (options.at === undefined) return;
    if (this.#screen === undefined) throw noScreen(options.at);
    this.#screen.showAt(options.at);
  }

  async run(): Promise<TreeExitCode> {
    const { io, store, options } = this;
    const { seq: head } = await store.journal.head();
    await this.#sayUnowned();
    if (this.#screen !== undefined) {
      await this.#look();
      this.#looks = setInterval(() => void this.#look().catch(() => undefined), LOOK_MS);
    }
    // On the screen Ctrl-C is a key.
    const reader = this.#screen === undefined ? io : { ...io, interrupted: () => this.#left.signal };
    for await (const frame of framesOf(store, reader, { from: 0, follow: true, path: options.world })) {
      await this.#show(frame, frame.seq > head);
      if (io.out.closed) return TREE_EXIT.complete;
      const tree = this.#tree;
      if (tree === undefined) continue;
      const isEnd = tree.ended !== null && frame.seq === (await store.journal.head()).seq;
      if (isEnd && this.#screen !== undefined) await this.#read(this.#screen, frame.seq > head);
      if (this.#left.signal.aborted && !isEnd) break;
      if (isEnd || (frame.seq === head && this.#screen === undefined)) await this.#picture(tree);
      if (isEnd) return exitOf(tree);
    }
    return TREE_EXIT.complete;
  }

  close(): void {
    clearInterval(this.#looks);
    this.#screen?.close();
  }

  /** Waits until the user has read the tree: one that ended before stays on the screen, one that ends now does not. */
  async #read(screen: TreeScreen, isNew: boolean): Promise<void> {
    const { signal } = this.#left;
    if (isNew) return screen.present(signal);
    if (!signal.aborted) await once(signal, 'abort');
  }

  /** Looks from time to time whether a process has the world open: a tree that nobody runs must not seem to run. */
  async #look(): Promise<void> {
    const { writer } = await postedTroubles(this.store);
    this.#screen?.unowned(writer === 'died' || writer === 'closed');
  }

  /** Says so when no process goes on with a tree that has not ended. An app without a bridge cannot be seen from here. */
  async #sayUnowned(): Promise<void> {
    if (this.options.at !== undefined) return; // the screen says there which frame it shows
    const tree = treeNamed(await treesAt(this.store), this.name);
    // Only an app runs trees of a world in a database.
    if (tree.ended !== null || isDatabase(this.options.world) || (await hasOwner(this.options.world))) return;
    const said = `no reprise tree runs this world; unless an app does: reprise tree continue ${this.name}`;
    if (this.#screen !== undefined) this.#screen.say(said);
    else await this.io.err.write(`${said}\n`);
  }

  get #tree(): TreeView | undefined {
    return this.#fold.trees.get(this.name);
  }

  async #show(frame: StoredFrame, isNew: boolean): Promise<void> {
    const facts = takeFrame(this.#fold, frame, this.#texts.hear);
    if (this.#screen !== undefined) for (const placed of facts) this.#past.add(placed);
    const tree = this.#tree;
    if (tree === undefined) return;
    if (this.#screen !== undefined) return this.#screen.show(tree);
    for (const placed of facts.filter(({ fact }) => fact.tree === this.name)) {
      if (this.options.json === true) await this.#print(toJson(treeEventOf(placed.fact, placed.place)));
      else for (const line of await this.#lines.of(placed, tree)) if (isNew) await this.#print(line);
    }
  }

  async #picture(tree: TreeView): Promise<void> {
    this.close();
    if (this.options.json === true) return;
    await this.#texts.load(tree);
    await this.io.out.write(
      pictureText(pictureOf(tree, { textOf: this.#texts.get, failureOf: this.#texts.failureOf }), this.io.out.columns),
    );
  }

  #print(line: string): Promise<void> {
    return this.io.out.write(`${line}\n`);
  }

  /** Executes what keys on the screen want: acts go to the process that runs the tree. */
  async #execute(wish: Wish): Promise<string> {
    const tree = this.#tree;
    if (wish.do !== 'act') this.#left.abort();
    if (wish.do !== 'act' || tree === undefined) return '';
    const { do: _, ...act } = wish;
    const by = this.options.as === undefined ? {} : { as: this.options.as };
    const { world, token } = this.options;
    const done = await perform(world, tree, { ...act, ...by, tree: tree.name, id: randomUUID() }, token);
    return wordsOfDone(act.verb, tree.name, act.n, done);
  }
}
