/** `reprise tree watch`: a tree while another process runs it, until it ends or the user leaves. */
import { pictureOf, TreeFold, type TreeView, treeEventOf } from '@reprise/tree';
import { framesOf } from '../../frames.js';
import type { Io } from '../../io.js';
import { withWorld } from '../../open.js';
import { toJson } from '../../text/json.js';
import { exitOf, TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { pictureText } from '../../tree/fit.js';
import { LiveLines } from '../../tree/live-lines.js';
import { factsIn, readTrees } from '../../tree/read-trees.js';
import { parseTreeName, treeNamed } from '../../tree/target.js';
import { Texts } from '../../tree/texts.js';

/** The options of `tree watch`. */
export interface WatchTreeOptions {
  readonly world: string;
  readonly plain?: true;
  readonly json?: true;
}

/**
 * Prints a tree while it runs.
 *
 * @returns the exit code of the tree; 0 when the user leaves before its end
 */
export async function watchTree(io: Io, name: string | undefined, options: WatchTreeOptions): Promise<TreeExitCode> {
  return withWorld(options.world, async (store) => {
    const before = await readTrees(store);
    const { name: meant } = treeNamed(before, name === undefined ? undefined : parseTreeName(name));
    const { seq: head } = await store.journal.head();
    const fold = new TreeFold();
    const texts = new Texts(store.content);
    const lines = new LiveLines(texts);
    const print = (text: string): Promise<void> => io.out.write(`${text}\n`);
    for await (const frame of framesOf(store, io, { from: 0, follow: true, path: options.world })) {
      const facts = factsIn(frame);
      for (const { fact, place } of facts) fold.add(fact, place);
      for (const placed of facts.filter(({ fact }) => fact.tree === meant)) {
        if (options.json === true) await print(toJson(treeEventOf(placed.fact, placed.place)));
        else for (const line of await lines.of(placed, treeOf(fold, meant))) if (frame.seq > head) await print(line);
      }
      if (io.out.closed) return TREE_EXIT.complete;
      const tree = fold.trees.get(meant);
      const isEnd = tree?.ended != null && frame.seq === (await store.journal.head()).seq;
      if (tree !== undefined && options.json !== true && (isEnd || frame.seq === head)) {
        await texts.load(tree);
        await io.out.write(pictureText(pictureOf(tree, { textOf: texts.get }), io.out.columns));
      }
      if (tree !== undefined && isEnd) return exitOf(tree);
    }
    return TREE_EXIT.complete;
  });
}

function treeOf({ trees }: TreeFold, name: string): TreeView {
  const tree = trees.get(name);
  if (tree === undefined) throw new Error(`no tree ${name}`);
  return tree;
}
